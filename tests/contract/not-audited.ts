/** Mutations that leave no audit row, each with the reason. Everything else that changes something does. */
export const notAudited: Record<string, string> = {
  previewInvitation: 'it changes nothing; it is a POST to keep the token out of addresses',
  explainPlacement: 'a dry run; it is a POST for the sake of its body',
  receiveStripeEvent:
    'facts that the payment provider reports; what comes of them is in the ledger and the event log',
  heartbeat: 'facts that a host reports every few seconds; nobody decides anything',
  claimTask: 'an agent takes the work it was given; the task row says who and when',
  reportTaskProgress: 'progress of a task; the timeline keeps it',
  completeTask: 'the outcome of a task; the task row and the event keep it',
};
