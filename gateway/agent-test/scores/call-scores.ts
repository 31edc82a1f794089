/** Scores of one call. They come from the two recordings and the places of the caller's sounds alone. */
import { Activity, type Span } from './activity.ts'

/** Kinds of a caller's sounds. */
export type SoundKind = 'turn' | 'keys' | 'interruption' | 'acknowledgement' | 'cough'

/** Sound of the caller, in ms from the answer: from its first to its last voiced frame. */
export interface CallerSound extends Span {
  readonly kind: SoundKind
  readonly text: string
  /** Number of the turn. Sounds with a pause between have the same one: the agent is to answer the last. */
  readonly turn: number
}

/** Recording of a call at 8 kHz: both channels begin with the answer. */
export interface CallRecording {
  readonly caller: Int16Array
  readonly agent: Int16Array
  readonly sounds: readonly CallerSound[]
  /** Times with an echo of the agent. */
  readonly echoes: readonly Span[]
}

/** Turn of the caller: its last sound, and the answer. */
export interface TurnScore extends Span {
  readonly text: string
  /** From the end of the turn to the agent's voice, in ms; undefined without an answer. Negative if early. */
  readonly gapMs?: number
  /** Whether the agent began to speak before the end of the turn. */
  readonly isEarly: boolean
}

/** Interruption of the agent's voice. Times are from the begin of the caller's voice, in ms. */
export interface YieldScore extends Span {
  readonly text: string
  /** Until the level was 20 dB lower, and stayed so for 150 ms. */
  readonly fadeMs?: number
  /** Until the agent was silent for 400 ms. */
  readonly silenceMs?: number
  /** Whether that silence began within 2 s. */
  readonly hasYielded: boolean
}

/** Sound over the agent's voice that is no interruption. */
export interface KeepScore extends Span {
  readonly kind: 'acknowledgement' | 'cough'
  readonly text: string
  /** From the end of the sound until the agent is heard again; 0 if it went on. Undefined if it did not. */
  readonly resumeMs?: number
  /** Whether it was heard again within 2 s. */
  readonly hasKept: boolean
}

/** Scores of one call. */
export interface CallScores {
  readonly ms: number
  readonly turns: readonly TurnScore[]
  readonly yields: readonly YieldScore[]
  readonly keeps: readonly KeepScore[]
  /** Interruptions, acknowledgements and coughs at which the agent did not speak: they have no score. */
  readonly unscored: number
  /** Agent's voice under an echo, and its pauses of 0.7 to 2 s there that the caller did not cause. */
  readonly echo: { readonly spokenMs: number; readonly stops: number }
  /** Time in which both spoke, and in which neither did. */
  readonly overlapMs: number
  readonly silenceMs: number
  /** Longest time without sound of either side, after the first sound. */
  readonly longestGapMs: number
  /** Median level of the agent's voice, in dBov; undefined if it never spoke. */
  readonly levelDb?: number
  /** Spans of the agent's voice, without pauses of less than a second. */
  readonly agentSpans: readonly Span[]
}

/** Pauses within words and between them. */
const wordPauseMs = 200
/** Pauses between sentences of one utterance. */
const utterancePauseMs = 1000
/**
 * Time before a sound in which the agent must be heard for the sound to be over its voice. A pause between
 * sentences is shorter.
 */
const overlapWindowMs = 700
/** Time before a sound whose voice gives the level of the agent. */
const levelWindowMs = 1500
const fade = { db: 20, forMs: 150 } as const
const silenceForMs = 400
/** Maximum time for an interruption to yield, and for the agent to go on. */
const maxReactionMs = 2000
/** Time after a short sound in which the agent may still react to it. */
const lateReactionMs = 300
const stop = { minMs: 700, maxMs: 2000 } as const

/** Returns the scores of a recorded call. Frames up to `silenceDb` (dBov) count as silence. */
export const scoreCall = (recording: CallRecording, silenceDb: number): CallScores => {
  const { sounds, echoes } = recording
  const agent = new Activity(recording.agent, silenceDb)
  const words = agent.spans(wordPauseMs)
  const isOver = ({ fromMs }: Span): boolean =>
    agent.loudMs({ fromMs: fromMs - overlapWindowMs, toMs: fromMs }) > 0
  const over = sounds.filter(({ kind }) => !isTurn(kind) || kind === 'interruption')
  const scored = over.filter(isOver)
  const all: Span = { fromMs: 0, toMs: agent.ms }
  const level = agent.level(all)
  return {
    ms: agent.ms,
    turns: turnsOf(sounds).map((turn) => turnScore(turn, words, isOver(turn))),
    yields: scored
      .filter(({ kind }) => kind === 'interruption')
      .map((sound) => ({ ...placeOf(sound), ...yieldScore(agent, sound) })),
    keeps: scored.flatMap((sound) =>
      sound.kind === 'acknowledgement' || sound.kind === 'cough'
        ? [{ ...placeOf(sound), kind: sound.kind, ...keepScore(agent, sound) }]
        : [],
    ),
    unscored: over.length - scored.length,
    echo: {
      spokenMs: echoes.reduce((sum, span) => sum + agent.loudMs(span), 0),
      stops: stopsIn(echoes, words, sounds),
    },
    ...togetherScores(agent, words, sounds),
    ...(level !== undefined && { levelDb: level }),
    agentSpans: agent.spans(utterancePauseMs),
  }
}

/** Whether the agent is to answer a sound. */
const isTurn = (kind: SoundKind): boolean => kind === 'turn' || kind === 'keys' || kind === 'interruption'

const placeOf = ({ text, fromMs, toMs }: CallerSound) => ({ text, fromMs, toMs })

/** Sounds of one turn, and the time up to which its answer counts. */
interface Turn extends Span {
  readonly text: string
  readonly untilMs: number
}

const turnsOf = (sounds: readonly CallerSound[]): readonly Turn[] => {
  const groups = new Map<number, CallerSound[]>()
  for (const sound of sounds)
    if (isTurn(sound.kind)) groups.set(sound.turn, [...(groups.get(sound.turn) ?? []), sound])
  const turns = [...groups.values()]
  return turns.map((parts, index) => ({
    text: parts.map(({ text }) => text).join(' … '),
    fromMs: parts[0]!.fromMs,
    toMs: parts.at(-1)!.toMs,
    untilMs: turns[index + 1]?.[0]?.fromMs ?? Number.POSITIVE_INFINITY,
  }))
}

/** `wasOver`: the agent spoke when the turn began, so its voice up to the end of the turn is no answer. */
const turnScore = (turn: Turn, words: readonly Span[], wasOver: boolean): TurnScore => {
  const { text, fromMs, toMs, untilMs } = turn
  const begun = words.filter((span) => span.fromMs >= fromMs && span.fromMs < untilMs)
  const early = wasOver ? undefined : begun.find((span) => span.fromMs < toMs)
  const answer = early && early.toMs > toMs ? early : begun.find((span) => span.fromMs >= toMs)
  return {
    text,
    fromMs,
    toMs,
    ...(answer && { gapMs: answer.fromMs - toMs }),
    isEarly: early !== undefined,
  }
}

/** Returns the level below which the agent counts as faded at a sound. */
const fadedDb = (agent: Activity, { fromMs }: Span): number => {
  const level = agent.level({ fromMs: fromMs - levelWindowMs, toMs: fromMs }) ?? agent.silenceDb
  return Math.max(agent.silenceDb, level - fade.db)
}

const yieldScore = (agent: Activity, sound: Span) => {
  const { fromMs } = sound
  const end = agent.ms + silenceForMs
  const fadedAt = agent.quietFrom(fromMs, fadedDb(agent, sound), fade.forMs, end)
  const silentAt = agent.quietFrom(fromMs, agent.silenceDb, silenceForMs, end)
  return {
    ...(fadedAt !== undefined && { fadeMs: fadedAt - fromMs }),
    ...(silentAt !== undefined && { silenceMs: silentAt - fromMs }),
    hasYielded: silentAt !== undefined && silentAt - fromMs <= maxReactionMs,
  }
}

const keepScore = (agent: Activity, sound: Span) => {
  const { fromMs, toMs } = sound
  const db = fadedDb(agent, sound)
  const fadedAt = agent.quietFrom(fromMs, db, fade.forMs, toMs + lateReactionMs)
  if (fadedAt === undefined) return { resumeMs: 0, hasKept: true }
  const resumedAt = agent.louderFrom(fadedAt + fade.forMs, db)
  if (resumedAt === undefined) return { hasKept: false }
  const resumeMs = Math.max(0, resumedAt - toMs)
  return { resumeMs, hasKept: resumeMs <= maxReactionMs }
}

/** Returns the number of pauses under an echo that no sound of the caller can have caused. */
const stopsIn = (echoes: readonly Span[], words: readonly Span[], sounds: readonly CallerSound[]): number => {
  const isNear = ({ fromMs, toMs }: Span): boolean =>
    sounds.some((sound) => sound.fromMs < toMs && sound.toMs > fromMs - maxReactionMs)
  const pauses = words.slice(1).map((span, index) => ({ fromMs: words[index]!.toMs, toMs: span.fromMs }))
  return pauses.filter(
    (pause) =>
      pause.toMs - pause.fromMs >= stop.minMs &&
      pause.toMs - pause.fromMs <= stop.maxMs &&
      echoes.some(({ fromMs, toMs }) => pause.fromMs >= fromMs && pause.fromMs < toMs) &&
      !isNear(pause),
  ).length
}

const togetherScores = (agent: Activity, words: readonly Span[], sounds: readonly CallerSound[]) => {
  const spans = [...words, ...sounds].sort((a, b) => a.fromMs - b.fromMs)
  let heardTo = spans[0]?.fromMs ?? 0
  let silenceMs = heardTo
  let longestGapMs = 0
  for (const { fromMs, toMs } of [...spans, { fromMs: agent.ms, toMs: agent.ms }]) {
    const gap = Math.max(0, fromMs - heardTo)
    silenceMs += gap
    longestGapMs = Math.max(longestGapMs, gap)
    heardTo = Math.max(heardTo, toMs)
  }
  const overlapMs = sounds.reduce((sum, sound) => sum + agent.loudMs(sound), 0)
  return { overlapMs, silenceMs, longestGapMs: spans.length === 0 ? agent.ms : longestGapMs }
}
