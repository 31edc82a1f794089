import { isDeepStrictEqual } from 'node:util'
import type { AgentMessage } from '../../handlers/verbs.ts'
import type { EngineChange, EngineLink, EngineMessage, EngineRequest } from './engine.ts'

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

/**
 * Brings a session up to date that was opened before the caller and the agent said more. A history that has
 * changed otherwise is replaced, if the engine can.
 */
export const catchUp = (link: EngineLink, before: EngineRequest, now: EngineRequest): void => {
  const changes = changesOf(before, now)
  const isContinued = before.history.every((message, i) => isDeepStrictEqual(message, now.history[i]))
  const { changes: canChange } = link.abilities
  const change = { ...changes, ...(!isContinued && { history: now.history }) }
  if (canChange && Object.keys(change).length > 0) link.change(change)
  if (!isContinued) return
  for (const message of now.history.slice(before.history.length).flatMap(inWords))
    link.message(message, false)
}
