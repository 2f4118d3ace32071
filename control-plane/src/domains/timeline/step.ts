/** One event of a timeline. */
export interface Entry<Stage extends string> {
  stage: Stage;
  status: 'running' | 'done' | 'failed';
  percent: number | null;
  message: string;
  occurred_at: string;
}

/** Texts of a stage for people. */
export interface Step<Stage extends string> {
  stage: Stage;
  title: string;
  state: 'waiting' | 'active' | 'done' | 'failed' | 'skipped';
  percent: number | null;
  started_at: string | null;
  ended_at: string | null;
  detail: string;
}

/** The step that an event shows; `since` if it started before. */
export function stepOf<Stage extends string>(
  title: string,
  { stage, status, percent, message, occurred_at }: Entry<Stage>,
  since: string | null | undefined,
): Step<Stage> {
  const isRunning = status === 'running';
  return {
    stage,
    title,
    state: isRunning ? 'active' : status,
    percent: isRunning ? percent : null,
    started_at: since ?? occurred_at,
    ended_at: isRunning ? null : occurred_at,
    detail: message,
  };
}
