import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';

interface StepWords {
  title: string;
  message?: string;
  phase?: string;
  optional?: true;
  repeats?: true;
  proof?: true;
}

interface Step extends StepWords {
  stage: string;
  /** The kind of task in which a node reports it. */
  task?: string;
}

interface Subject {
  failure: string;
  phases: string[];
  sections: Record<
    string,
    { title: string; steps: Record<string, StepWords>; variants: Record<string, string[]> }
  >;
}

interface Stages {
  tasks: Record<string, Record<string, StepWords>>;
  subjects: Record<string, Subject>;
}

const FIELDS = ['title', 'message', 'phase', 'optional', 'repeats', 'proof'];

/** The stages as TypeScript, and their enums as a JSON Schema that the API documents refer to. */
export function stageTypes(file: string, header: string): { types: string; schemas: string } {
  const { tasks, subjects }: Stages = parseYaml(readFileSync(file, 'utf8'));
  const taskStages = Object.fromEntries(
    Object.entries(tasks).map(([kind, stages]) => [kind, Object.keys(stages)]),
  );
  const expanded = Object.fromEntries(
    Object.entries(subjects).map(([name, subject]) => [name, expandSubject(tasks, name, subject)]),
  );
  const enums: Record<string, string[]> = { TaskStage: unique(Object.values(taskStages).flat()) };
  for (const [name, subject] of Object.entries(expanded)) {
    enums[`${pascal(name)}Stage`] = stagesOf(subject);
    enums[`${pascal(name)}Section`] = subject.sections.map(({ section }) => section);
    enums[`${pascal(name)}Phase`] = subject.phases;
  }
  return { types: typesOf(header, tasks, taskStages, expanded, enums), schemas: schemasOf(enums) };
}

function expandSubject(tasks: Stages['tasks'], name: string, subject: Subject) {
  const sections = Object.entries(subject.sections).map(([section, { title, steps, variants }]) => ({
    section,
    title,
    variants: Object.fromEntries(
      Object.entries(variants).map(([variant, path]) => [
        variant,
        path.flatMap((entry): Step[] => {
          const task = tasks[entry];
          if (task) return Object.entries(task).map(([stage, words]) => ({ stage, ...words, task: entry }));
          const words = steps[entry];
          if (!words) throw new Error(`stages.yaml: ${name} ${section} ${variant}: ${entry} has no words`);
          return [{ stage: entry, ...words }];
        }),
      ]),
    ),
  }));
  const variants = sections.map((section) => Object.keys(section.variants).join(' '));
  if (new Set(variants).size > 1)
    throw new Error(`stages.yaml: sections of ${name} differ in their variants`);
  for (const step of sections.flatMap((section) => Object.values(section.variants).flat())) {
    const unknown = Object.keys(step).find((field) => ![...FIELDS, 'stage', 'task'].includes(field));
    if (unknown) throw new Error(`stages.yaml: ${name} ${step.stage} has no field ${unknown}`);
    if (step.phase && !subject.phases.includes(step.phase))
      throw new Error(`stages.yaml: ${name} has no phase ${step.phase}`);
  }
  return { failure: subject.failure, phases: subject.phases, sections };
}

type Expanded = ReturnType<typeof expandSubject>;

function stagesOf({ failure, sections }: Expanded): string[] {
  const steps = sections.flatMap((section) => Object.values(section.variants).flat());
  return unique([...steps.map(({ stage }) => stage), failure]);
}

function typesOf(
  header: string,
  tasks: Stages['tasks'],
  taskStages: Record<string, string[]>,
  subjects: Record<string, Expanded>,
  enums: Record<string, string[]>,
): string {
  const messages = Object.fromEntries(
    Object.entries(tasks).map(([kind, stages]) => [
      kind,
      Object.fromEntries(
        Object.entries(stages).map(([stage, words]) => [stage, messageOf(kind, stage, words)]),
      ),
    ]),
  );
  const unions = Object.entries(enums).map(
    ([name, values]) =>
      `export type ${name} = ${values.map((value) => JSON.stringify(value)).join(' | ')};\n`,
  );
  const timelines = Object.entries(subjects).map(([name, { failure, phases, sections }]) => {
    const type = `Timeline<${pascal(name)}Stage, ${pascal(name)}Section, ${pascal(name)}Phase, ${pascal(name)}Variant>`;
    const variants = Object.keys(sections[0]?.variants ?? {});
    return [
      `\nexport type ${pascal(name)}Variant = ${variants.map((variant) => JSON.stringify(variant)).join(' | ')};\n`,
      `\nexport const ${name}Timeline: ${type} = ${json({ failure, phases, sections })};\n`,
    ].join('');
  });
  return [
    header,
    unions.join('\n'),
    `\nexport interface TimelineStage<Stage, Phase> {
  stage: Stage;
  title: string;
  message?: string;
  phase?: Phase;
  optional?: true;
  repeats?: true;
  proof?: true;
  task?: string;
}

export interface Timeline<Stage, Section, Phase, Variant extends string> {
  failure: Stage;
  phases: readonly Phase[];
  sections: readonly {
    section: Section;
    title: string;
    variants: Readonly<Record<Variant, readonly TimelineStage<Stage, Phase>[]>>;
  }[];
}
`,
    `\nexport const taskStages = ${json(taskStages)} as const;\n`,
    `\nexport const taskMessages: Readonly<Record<string, Readonly<Partial<Record<TaskStage, string>>>>> = ${json(messages)};\n`,
    ...timelines,
  ].join('');
}

function messageOf(kind: string, stage: string, { message }: StepWords): string {
  if (message === undefined) throw new Error(`stages.yaml: ${kind} ${stage} has no message`);
  return message;
}

function schemasOf(enums: Record<string, string[]>): string {
  return `${json(Object.fromEntries(Object.entries(enums).map(([name, values]) => [name, { enum: values }])))}\n`;
}

function pascal(name: string): string {
  return name
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
