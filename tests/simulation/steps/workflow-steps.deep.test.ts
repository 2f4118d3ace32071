import { everyStepOf } from './every-step.ts';
import { isOfWholeHost, scenarios } from './step-scenes.ts';

everyStepOf(Object.entries(scenarios).filter(([name]) => !isOfWholeHost(name)));
