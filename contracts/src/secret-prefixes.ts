/** Prefixes of our secrets, so that people, scanners and the sanitizer recognise them. */
export const SECRET_PREFIXES = {
  api_key: 'gpk_',
  service_account_token: 'gps_',
  app_instance_token: 'gpa_',
  invitation: 'gpi_',
  share_link: 'gpl_',
  enrolment: 'gpe_',
  stream_token: 'gpt_',
  webhook: 'whsec_',
} as const;
