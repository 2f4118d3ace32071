import { useMutation } from '@tanstack/react-query';
import { Download, Printer } from 'lucide-react';
import { signedWipeCertificate } from '../../api/allocations/allocations.ts';
import type { WipeCertificate } from '../../api/types.ts';
import { Button } from '../../ui/actions/button.tsx';
import { buttonClass } from '../../ui/actions/button-class.ts';
import { RowActions } from '../../ui/actions/row-actions.tsx';
import { saveFile } from '../../ui/actions/save-file.ts';

/** The signed statement, as a file for machines and as a page for people. */
export function WipeCertificateActions({ wipe }: { wipe: WipeCertificate }) {
  const { id, allocation_id: allocationId, device_serial: serial, issued_at: issuedAt } = wipe;
  const download = useMutation({
    mutationFn: () => signedWipeCertificate({ allocationId, id }),
    onSuccess: (signed) => saveFile(`wipe-${serial}.json`, JSON.stringify(signed, null, 2)),
  });
  const unsigned = issuedAt ? null : 'Being signed, usually within seconds.';
  const refusal = unsigned ?? (download.error ? `Download failed: ${download.error.message}` : null);
  return (
    <RowActions>
      <Button
        size="sm"
        busy={download.isPending}
        disabledReason={unsigned}
        onClick={() => download.mutate()}
        label={`Download the certificate of ${serial}`}
      >
        <Download aria-hidden className="size-3.5" />
      </Button>
      {unsigned ? null : (
        <a
          href={`/api/v1/allocations/${allocationId}/wipe-certificates/${id}/printable`}
          target="_blank"
          rel="noreferrer"
          aria-label={`Print the certificate of ${serial}`}
          className={buttonClass({ size: 'sm' })}
        >
          <Printer aria-hidden className="size-3.5" />
        </a>
      )}
      {refusal && <span className="sr-only">{refusal}</span>}
    </RowActions>
  );
}
