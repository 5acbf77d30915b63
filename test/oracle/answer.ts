// Reference implementation (oracle) of the query language: computes the answer to a question about
// a history with plain loops, written from the specification. It shares no code with the service
// and is slow. A comment that begins with "Reading" states the choice taken where the specification
// leaves one.
import { answerLifecycle, answerStickiness } from './activity.js';
import { withCallsBound, withCohort } from './calls.js';
import { answerChoice } from './choice.js';
import { answerCompared } from './compared.js';
import { answerFields, answerInspect } from './discovery.js';
import { answerEvents, answerExposures, answerUser } from './events.js';
import { answerFormula } from './formula.js';
import { answerFunnel } from './funnel.js';
import type { History } from './history.js';
import { answerLatest } from './latest.js';
import { answerPaths } from './paths.js';
import type { Question } from './question.js';
import { answerRetention } from './retention.js';
import { answerSessions } from './sessions.js';
import type { Answer } from './table.js';
import { withEventsLeftOut, withUnit } from './unit.js';
import { answerUsers } from './users.js';
import { type Context, type World, worldOf } from './world.js';

export function answer(question: Question, history: History, context: Context): Answer {
  const world = withUnit(worldOf(history, context), question);
  return withEventsLeftOut(answerOver(world, question), question, world);
}

function answerOver(world: World, question: Question): Answer {
  const { compare } = question;
  if (compare) return answerCompared(question, compare, world, (one) => answerIn(world, one));
  return answerIn(world, question);
}

function answerIn(given: World, asked: Question): Answer {
  const world = withCohort(given, asked);
  const question = withCallsBound(asked, world);
  switch (question.source) {
    case 'events':
      return answerEvents(question, world);
    case 'latest':
      return answerLatest(question, world);
    case 'funnel':
      return answerFunnel(question, world);
    case 'retention':
      return answerRetention(question, world);
    case 'paths':
      return answerPaths(question, world);
    case 'sessions':
      return answerSessions(question, world);
    case 'lifecycle':
      return answerLifecycle(question, world);
    case 'stickiness':
      return answerStickiness(question, world);
    case 'user':
      return answerUser(question, world);
    case 'users':
      return answerUsers(question, world);
    case 'formula':
      return answerFormula(question, world);
    case 'fields':
      return answerFields(question, world);
    case 'inspect':
      return answerInspect(question, world);
    case 'choice':
      return question.results === undefined
        ? answerExposures(question, world)
        : answerChoice(question, question.results, world);
  }
}
