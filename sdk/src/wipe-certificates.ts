/** Checking wipe certificates without a network, for programs that have only the SDK. */
export {
  checkCertificate,
  checkChain,
  hashWipeStatement,
  type CertificateFinding,
  type PublishedKey,
  type SignedWipeCertificate,
} from '@gpuaas/contracts/wipe-certificate';
