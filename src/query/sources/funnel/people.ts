// Which people of a funnel `people` lists: those who did a step, or who did no further one.
import type { AnswerOrder } from '../../analyze/answer-order.js';
import { refuseWho, resolveNumber, takePeople, takePeopleOrder } from '../../analyze/people.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { StageReader } from '../../analyze/stage-reader.js';

export interface FunnelPeople extends AnswerOrder {
  /** Number of the step. */
  readonly step: number;
  /** Whether they did no further step. */
  readonly areLost: boolean;
}

export function takeFunnelPeople(scope: Scope, stages: StageReader, steps: number): FunnelPeople | undefined {
  const stage = takePeople(scope, stages);
  if (stage === undefined) return undefined;
  const { who } = stage;
  const order = takePeopleOrder(scope, stages);
  if ((who.kind !== 'at' && who.kind !== 'lost_after') || (who.kind === 'at' && who.cohort)) {
    return refuseWho(scope, stage, 'of a funnel write people at 2, or people lost after 1');
  }
  const areLost = who.kind === 'lost_after';
  const step = resolveNumber(scope, { number: who.number, first: 1, last: steps, what: 'step' });
  if (areLost && step === steps) {
    return report(scope, who.number.span, `step ${steps} is the last`, 'people are lost after an earlier one');
  }
  return step === undefined ? undefined : { ...order, step, areLost };
}
