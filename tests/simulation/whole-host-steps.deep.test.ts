import { everyStepOf } from './every-step.ts';
import { isOfWholeHost, scenes } from './step-scenes.ts';

everyStepOf(Object.entries(scenes).filter(([name]) => isOfWholeHost(name)));
