import type { Timeline } from '@gpuaas/contracts/generated/stages.ts';
import { Occurrences } from './fold-occurrences.ts';
import { SectionFold } from './fold-section.ts';
import type { Entry, Step } from './step.ts';
import { present } from '../../platform/present.ts';

export interface Section<Stage extends string, Name extends string> {
  section: Name;
  title: string;
  steps: Step<Stage>[];
}

/** Columns of the subject that its timeline depends on. */
export interface Facts<Variant extends string, Name extends string> {
  variant: Variant;
  /** Sections that have ended. */
  completed: readonly Name[];
  /** The section in which an operator ended the subject before its last step. */
  abandoned: Name | null;
}

/**
 * Folds the events of a subject, oldest first, into the steps of its timeline. The first section is always
 * listed.
 */
export function foldTimeline<
  Stage extends string,
  Name extends string,
  Phase extends string,
  Variant extends string,
>(
  timeline: Timeline<Stage, Name, Phase, Variant>,
  entries: readonly Entry<NoInfer<Stage>>[],
  { variant, completed, abandoned }: Facts<NoInfer<Variant>, NoInfer<Name>>,
): Section<Stage, Name>[] {
  const folds = timeline.sections.map(({ section, title, variants }, index) => {
    const repeating = variants[variant].filter(({ repeats }) => repeats);
    const path = variants[variant].filter(({ repeats }) => !repeats);
    return {
      section,
      title,
      fold: new SectionFold<Stage>(path, index === timeline.sections.length - 1),
      occurrences: new Map(repeating.map((words) => [words.stage, new Occurrences<Stage>(words.title)])),
    };
  });
  let current = 0;
  for (const entry of entries) {
    const occurrences = folds.find((one) => one.occurrences.has(entry.stage))?.occurrences.get(entry.stage);
    if (occurrences) occurrences.note(entry);
    else if (entry.stage === timeline.failure) present(folds[current], 'section').fold.fail(entry);
    else {
      const at = folds.findIndex(({ fold }, index) => index >= current && fold.takes(entry));
      if (at === -1) present(folds[current], 'section').fold.amend(entry);
      else present(folds[(current = at)], 'section').fold.note(entry);
    }
  }
  return folds.flatMap(({ section, title, fold, occurrences }, index) => {
    const supersededAt = folds.slice(index + 1).find((later) => later.fold.hasBegun)?.fold.startedAt ?? null;
    const isComplete = completed.includes(section);
    const isListed = index === 0 || fold.hasBegun || isComplete;
    const steps = [
      ...(isListed ? fold.steps({ supersededAt, isComplete, isAbandoned: section === abandoned }) : []),
      ...[...occurrences.values()].flatMap((one) => one.steps(supersededAt)),
    ];
    return steps.length > 0 ? [{ section, title, steps }] : [];
  });
}
