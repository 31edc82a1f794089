import { isDeepStrictEqual } from 'node:util'
import type { AgentMessage } from '../../handlers/verbs.ts'
import type { EngineChange, EngineLink, EngineMessage, EngineRequest } from './engine.ts'
import { wordsOf } from './text/words.ts'

/** Settings that differ, for an engine. */
const changesOf = (before: EngineRequest, now: EngineRequest): EngineChange => {
  const isChanged = (key: keyof EngineRequest): boolean => !isDeepStrictEqual(before[key], now[key])
  const [language] = now.languages
  return {
    ...(isChanged('prompt') && { prompt: now.prompt }),
    ...(isChanged('functions') && { functions: now.functions }),
    ...(isChanged('settings') && { settings: now.settings }),
    ...(isChanged('hints') && { hints: now.hints }),
    ...(isChanged('languages') && language && { language }),
    ...(isChanged('endOfSpeechMs') && { endOfSpeechMs: now.endOfSpeechMs }),
  }
}

/** Message in words: the calls of functions belong to another session. */
const inWords = (message: EngineMessage): AgentMessage[] => {
  if (message.role === 'tool')
    return [{ role: 'system', content: `Result of ${message.name}: ${message.content}` }]
  const { role, content } = message
  return content === '' ? [] : [{ role, content }]
}

/** Whether two messages are the same but for their words. The calls of an answer join it as they end. */
const isSame = (one: EngineMessage, other: EngineMessage): boolean =>
  one.role === other.role && (one.role !== 'tool' || other.role !== 'tool' || one.callId === other.callId)

/** Returns the part of a text that follows the words of another one; undefined if it begins differently. */
const continuationOf = (before: string, now: string): string | undefined => {
  const known = wordsOf(before)
  if (known.length === 0) return now
  const parts = now.split(/\s/).filter((part) => part !== '')
  let count = 0
  let at = 0
  for (; at < parts.length && count < known.length; at++)
    for (const word of wordsOf(parts[at]!)) if (word !== known[count++]) return undefined
  return count === known.length ? parts.slice(at).join(' ') : undefined
}

/**
 * Returns the messages that a session does not have yet; undefined if it has words that are no longer in the
 * history. Words count, not their spelling. The last message may have become longer: the rest of an answer
 * that was being spoken follows as a message of its own.
 */
export const missedOf = (
  before: readonly EngineMessage[],
  now: readonly EngineMessage[],
): readonly AgentMessage[] | undefined => {
  for (const [i, message] of before.entries()) {
    const present = now[i]
    if (!present || !isSame(message, present)) return undefined
    // Texts without words, such as marks, are compared as they are.
    if (message.content === present.content) continue
    const rest = continuationOf(message.content, present.content)
    if (rest === undefined) return undefined
    if (rest === '') continue
    // Words in the middle of the history cannot be added afterwards.
    if (i < before.length - 1) return undefined
    return [{ ...present, content: rest }, ...now.slice(i + 1)].flatMap(inWords)
  }
  return now.slice(before.length).flatMap(inWords)
}

/** Whether a session can be brought up to date that was opened with a former state of the conversation. */
export const canCatchUp = (link: EngineLink, before: EngineRequest, now: EngineRequest): boolean =>
  link.abilities.changes || missedOf(before.history, now.history) !== undefined

/**
 * Brings a session up to date that was opened before the caller and the agent said more. It gets what it
 * missed, from the first different word on. A history that has changed otherwise is replaced, if the engine
 * can; else {@link canCatchUp} is false.
 */
export const catchUp = (link: EngineLink, before: EngineRequest, now: EngineRequest): void => {
  const missed = missedOf(before.history, now.history)
  const { changes, changesHistory } = link.abilities
  const change = { ...changesOf(before, now), ...(!missed && changesHistory && { history: now.history }) }
  if (changes && Object.keys(change).length > 0) link.change(change)
  for (const message of missed ?? []) link.message(message, false)
}
