import { endOfDoubt } from './doubt.ts'
import type { Floor } from './floor.ts'
import type { Deadline } from './schedule.ts'

/** Wait before a filler, in ms. */
const thinkingFillerMs = 700
const dictationFillerMs = 700
/** Wait for the end of a turn by an engine that decides it, in ms. */
const engineTurnMs = 8000

/** Adds a deadline, unless its time is undefined. */
type Add = (at: number | undefined, run: () => void) => void

const addDictation = (floor: Floor, text: string, add: Add): void => {
  const { voice } = floor.caller
  if (floor.dictated === text || voice.isVoiced || voice.endedAt === undefined) return
  add(voice.endedAt + dictationFillerMs, () => {
    floor.dictated = text
    floor.actor.filler('dictation')
  })
}

/** The caller's turn, whose end the conversation decides. */
const addTurn = (floor: Floor, add: Add): void => {
  const end = floor.caller.end(floor.rules)
  if (!end) return
  const { text } = floor.caller.speech
  add(end.at, () => floor.commitSpeech(end.by))
  if (floor.canPrepare) add(end.prepareAt, () => floor.prepare())
  if (end.meaning === 'dictation') addDictation(floor, text, add)
}

/** The caller's turn, whose end the engine decides; bounded, if it does not. */
const addEngineTurn = (floor: Floor, add: Add): void => {
  const { speech, voice } = floor.caller
  const last = Math.max(speech.recognisedAt ?? 0, voice.endedAt ?? 0)
  add(last + engineTurnMs, () => {
    if (speech.engine === 'began') return floor.commitSpeech('limit')
    floor.log()
    floor.goOn()
  })
}

const addCaller = (floor: Floor, add: Add): void => {
  const { keys, speech } = floor.caller
  if (keys.isPending) {
    add(keys.dueAt(floor.rules.keyMs), () => floor.commitKeys())
    return
  }
  if (speech.text === '') add(floor.caller.wordlessEnd(floor.rules, engineTurnMs), () => floor.goOn())
  else if (floor.mode === 'ours') addTurn(floor, add)
  else addEngineTurn(floor, add)
}

const addThinking = (floor: Floor, add: Add): void => {
  if (floor.thinkingSince === undefined) return
  add(floor.thinkingSince + thinkingFillerMs, () => {
    floor.thinkingSince = undefined
    floor.actor.filler('thinking')
  })
}

const addAnswer = (floor: Floor, add: Add): void => {
  const { answers } = floor
  if (!answers.isAudible) addThinking(floor, add)
  add(answers.dueAt(floor.rules.answerMs), () => {
    const fault = answers.overdue(floor.now, floor.rules.answerMs)
    if (fault === 'revive') floor.actor.reviveAnswer()
    else if (fault === 'give-up') {
      floor.giveUp()
      // The engine that hears is the one that fell silent.
      if (floor.mode !== 'ours' && floor.isOpen) floor.actor.reviveHearing()
    } else if (fault === 'finished') floor.rest()
  })
}

const addDoubt = (floor: Floor, add: Add): void => {
  const { caller, rules } = floor
  const { isFinal, recognisedAt } = caller.speech
  const hasWords = caller.hasWords(rules)
  const words = { hasWords, isFinal, recognisedAt, speechEventMs: rules.speechEventMs }
  add(endOfDoubt(floor.doubtSince, caller.voice, words), () => floor.resume())
}

/** Time at which the hearing has failed, as far as is known. */
const unheardAt = ({ mode, isAgents, caller }: Floor): number | undefined => {
  if (mode === 'ours') return caller.voice.reviveAt
  return isAgents ? undefined : caller.voice.unnoticedAt
}

const addLimits = (floor: Floor, add: Add): void => {
  const { silences, rules, caller } = floor
  if (floor.stopBy !== undefined) add(floor.stopBy, () => floor.farewell())
  else add(silences.stopAt(rules), () => floor.stop())
  if (caller.speech.text === '' && !caller.keys.isPending)
    add(silences.inactiveAt(rules), () => floor.leave('inactive'))
  add(unheardAt(floor), () => {
    caller.voice.revived(floor.now)
    floor.actor.reviveHearing()
    if (floor.state === 'caller' && !caller.isActive) floor.goOn()
  })
}

/**
 * Everything that time changes in the present state. Every state but `held` and `over` has a deadline, except
 * for `listening` if all of its limits are off.
 */
export const deadlinesOf = (floor: Floor): Deadline[] => {
  const { state } = floor
  if (state === 'held' || state === 'over') return []
  const deadlines: Deadline[] = []
  const add: Add = (at, run) => {
    if (at !== undefined) deadlines.push({ at, run })
  }
  if (state === 'leaving') {
    add(floor.leavingUntil, () => floor.end())
    return deadlines
  }
  addLimits(floor, add)
  if (state === 'listening') add(floor.silences.attentionAt(floor.rules), () => floor.attend())
  else if (state === 'caller') addCaller(floor, add)
  else if (state === 'doubting') addDoubt(floor, add)
  else addAnswer(floor, add)
  return deadlines
}
