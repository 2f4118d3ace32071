/** Fields that sound secret and are not, each with the reason. Everything else that sounds so is `x-secret: true`. */
export const notSecret: Record<string, string> = {
  'schemas/Problem/code': 'the stable name of a refusal',
  'schemas/Problem/errors/items/code': 'the stable name of a defect in the request',
  'schemas/Allocation/failure/code': 'the stable name of a failure',
  'schemas/Payment/failure/code': 'the stable name of a failure',
  'schemas/ApprovalRule/code': 'the stable name of a rule',
  'schemas/PlacementExplanation/funds/code': 'the stable name of a refusal',
  'schemas/NodeTask/error/code': 'the stable name of a failure',
  'schemas/TaskOutcome/error/code': 'the stable name of a failure',
};

/** Marked fields whose values the canary cannot request, each with the place that covers it. */
export const collectedElsewhere: Record<string, string> = {};
