#!/usr/bin/perl
# Runs a command without some system calls, with sockets of some families only, with no way to set the bits that give a
# program its owner's rights, and with a mask for new files, as systemd does for a service:
#   limit-calls.pl 175,176 1,2,10,16 0077 command words
# Perl, because it can ask the kernel for this without a compiler and is on every Debian.
use strict;
use warnings;

my ($calls, $families, $mask, @command) = @ARGV;
my ($LOAD, $EQUAL, $ANY_OF, $RETURN) = (0x20, 0x15, 0x45, 0x06);
my ($ALLOW, $EPERM, $EAFNOSUPPORT) = (0x7fff0000, 0x00050001, 0x00050061);
my ($X86_64, $SOCKET) = (0xC000003E, 41);
my @program;
sub op { push @program, pack('S C C L', @_) }

op($LOAD, 0, 0, 4);
op($EQUAL, 1, 0, $X86_64);
op($RETURN, 0, 0, $EPERM);
op($LOAD, 0, 0, 0);
for my $call (split /,/, $calls) {
  op($EQUAL, 0, 1, $call);
  op($RETURN, 0, 0, $EPERM);
}
# chmod, fchmod, fchmodat, mkdir, mkdirat, mknod, mknodat; by the argument that has the mode.
my %mode_of = (90 => 1, 91 => 1, 268 => 2, 83 => 1, 258 => 2, 133 => 1, 259 => 2);
for my $call (sort keys %mode_of) {
  op($EQUAL, 0, 4, $call);
  op($LOAD, 0, 0, 16 + 8 * $mode_of{$call});
  op($ANY_OF, 0, 1, 06000);
  op($RETURN, 0, 0, $EPERM);
  op($LOAD, 0, 0, 0);
}
my @families = split /,/, $families;
op($EQUAL, 0, 2 * @families + 2, $SOCKET);
op($LOAD, 0, 0, 16);
for my $family (@families) {
  op($EQUAL, 0, 1, $family);
  op($RETURN, 0, 0, $ALLOW);
}
op($RETURN, 0, 0, $EAFNOSUPPORT);
op($RETURN, 0, 0, $ALLOW);

my $filter = join '', @program;
my $fprog = pack('S x6 P', scalar @program, $filter);
# prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
syscall(157, 22, 2, $fprog, 0, 0) == 0 or die "the kernel takes no filter: $!\n";
umask oct $mask;
exec { $command[0] } @command or die "$command[0]: $!\n";
