import type { AgentTurnSettings } from '../verbs.ts'
import { readReset } from './contexts.ts'
import type { AgentEffect, FunctionReply, Json } from './document-types.ts'
import { readHints } from './languages.ts'
import { modelSettings } from './prompt.ts'
import { Findings, Section } from './section.ts'
import { activeOf } from './swaig.ts'
import {
  booleanOf,
  clamp,
  dataLimits,
  isObject,
  jsonOf,
  numberOf,
  secondsOf,
  sizeFault,
  textOf,
  textsOf,
} from './values.ts'

/** Maximum length of a text for the model, in characters. */
const maxResponseLength = 65_536

/** Maximum number of effects of one reply. */
const maxEffects = 100

/** Duration of a hold without a valid one, and the maximum, in seconds. */
const defaultHold = 300
const maxHold = 900

/** Reads the value of an action. Undefined: the value has the wrong type. */
type ReadAction = (value: unknown, section: Section, name: string) => readonly AgentEffect[] | undefined

const none: readonly AgentEffect[] = []

const one = (effect: AgentEffect | undefined): readonly AgentEffect[] | undefined => effect && [effect]

/** Reads an action that is switched on by true; false has no effect. */
const switched =
  (effect: AgentEffect): ReadAction =>
  (value) => {
    // Some clients send an empty object for an action without a value.
    const isOn = isObject(value) ? true : booleanOf(value)
    if (isOn === undefined) return undefined
    return isOn ? [effect] : none
  }

const withText =
  (effect: (text: string) => AgentEffect): ReadAction =>
  (value) => {
    const text = textOf(value)
    return text === undefined || text === '' ? undefined : [effect(text)]
  }

const withData =
  (effect: (data: Json) => AgentEffect): ReadAction =>
  (value) => {
    const data = jsonOf(value)
    return isObject(data) ? [effect(data)] : undefined
  }

/** Reads keys: one, a list, or the keys of an object. */
const withKeys =
  (effect: (keys: readonly string[]) => AgentEffect): ReadAction =>
  (value) => {
    const keys = isObject(value) ? Object.keys(value) : textsOf(value)
    return keys.length > 0 ? [effect(keys)] : undefined
  }

const withMs =
  (key: 'endOfSpeechMs' | 'speechEventMs', range: readonly [number, number]): ReadAction =>
  (value) => {
    const ms = numberOf(value)
    return ms === undefined ? undefined : [{ kind: 'turns', settings: { [key]: clamp(ms, range) } }]
  }

/** Reads a document that is run. JSON in a text is parsed; any other text stays. */
const script: ReadAction = (value, section) => {
  const document = typeof value === 'string' ? (jsonOf(value) ?? value) : value
  if (!isObject(document) && typeof document !== 'string') return undefined
  return [{ kind: 'script', document, transfer: booleanOf(section.get('transfer')) ?? false }]
}

const transfer: ReadAction = (value, section) => {
  // Beside a script, a truth belongs to the script.
  if (section.has('SWML') && booleanOf(value) !== undefined) return none
  const to = isObject(value) ? textOf(value.dest) : textOf(value)
  if (!to || booleanOf(to) !== undefined) return undefined
  return [{ kind: 'transfer', to, summarize: (isObject(value) && booleanOf(value.summarize)) || false }]
}

const hold: ReadAction = (value) => {
  if (value === false || value === 'false') return none
  const options = isObject(value) ? value : { timeout: value }
  const given =
    options.timeout === undefined || options.timeout === true ? defaultHold : secondsOf(options.timeout)
  const seconds = given === undefined || given < 0 || given > maxHold ? defaultHold : given
  const step = textOf(options.step)
  const timeoutStep = textOf(options.timeout_step)
  return [{ kind: 'hold', seconds, ...(step && { step }), ...(timeoutStep && { timeoutStep }) }]
}

const contextSwitch: ReadAction = (value, section, name) => {
  const text = textOf(value)
  if (text) return [{ kind: 'switch', reset: { systemPrompt: text, consolidate: false, fullReset: false } }]
  if (!isObject(value)) return undefined
  return [
    { kind: 'switch', reset: readReset(new Section(value, section.at(name), section.findings), 'markdown') },
  ]
}

const toggle: ReadAction = (value) => {
  const items = (Array.isArray(value) ? value : [value]).flatMap((item) => {
    if (!isObject(item)) return []
    const names = textsOf(item.function ?? item.functions)
    const active = activeOf(item.active ?? true)
    return names.length === 0 || active === undefined ? [] : [{ names, active }]
  })
  return items.length > 0 ? [{ kind: 'toggle', functions: items }] : undefined
}

const background: ReadAction = (value) => {
  const url = isObject(value) ? textOf(value.file) : textOf(value)
  const wait = (isObject(value) && booleanOf(value.wait)) || false
  return url ? [{ kind: 'background', url, wait }] : undefined
}

const waitForUser: ReadAction = (value) => {
  if (value === 'answer_first') return [{ kind: 'wait-for-user', answerFirst: true }]
  const isOn = typeof value === 'number' ? undefined : booleanOf(value)
  const seconds = numberOf(value)
  if (seconds !== undefined && (isOn === undefined || seconds > 1))
    return [{ kind: 'wait-for-user', ms: clamp(seconds, [0, 3600]) * 1000, answerFirst: false }]
  if (isOn === undefined) return undefined
  return isOn ? [{ kind: 'wait-for-user', answerFirst: false }] : none
}

const addHints: ReadAction = (value, section, name) => {
  const { hints, corrections } = readHints(Array.isArray(value) ? value : [value], section, name)
  if (hints.length === 0 && corrections.length === 0) return none
  return [{ kind: 'add-hints', hints, ...(corrections.length > 0 && { corrections }) }]
}

const settings: ReadAction = (value, section, name) => {
  const given = jsonOf(value)
  if (!isObject(given)) return undefined
  const renamed = Object.fromEntries(
    Object.entries(given).map(([key, each]) => [key.replaceAll('-', '_'), each]),
  )
  const part = new Section(renamed, section.at(name), section.findings)
  const model = modelSettings(part)
  const confidence = part.number('confidence', [0, 1])
  const bargeConfidence = part.number('barge_confidence', [0, 1])
  const turns: Partial<AgentTurnSettings> = {
    ...(confidence !== undefined && { confidence }),
    ...(bargeConfidence !== undefined && { bargeConfidence }),
  }
  part.warnUnknown()
  return [
    ...(Object.keys(model).length > 0 ? [{ kind: 'settings', settings: model } as const] : []),
    ...(Object.keys(turns).length > 0 ? [{ kind: 'turns', settings: turns } as const] : []),
  ]
}

const replaceInHistory: ReadAction = (value) => {
  const isOn = booleanOf(value)
  if (isOn !== undefined) return isOn ? [{ kind: 'replace-in-history' }] : none
  const text = textOf(value)
  return one(text ? { kind: 'replace-in-history', text } : undefined)
}

const backToBack: ReadAction = (value) => {
  const mode = value === 'forever' ? value : booleanOf(value)
  return mode === undefined ? undefined : [{ kind: 'back-to-back', mode }]
}

const extensiveData: ReadAction = (value) => {
  const isOn = booleanOf(value)
  return isOn === undefined ? undefined : [{ kind: 'extensive-data', isOn }]
}

const actions: Readonly<Record<string, ReadAction>> = {
  SWML: script,
  transfer,
  say: withText((text) => ({ kind: 'say', text })),
  stop: switched({ kind: 'stop' }),
  hangup: switched({ kind: 'hangup' }),
  hold,
  change_context: withText((name) => ({ kind: 'context', name })),
  change_step: withText((name) => ({ kind: 'step', name })),
  context_switch: contextSwitch,
  toggle_functions: toggle,
  set_global_data: withData((data) => ({ kind: 'set-global', data })),
  unset_global_data: withKeys((keys) => ({ kind: 'unset-global', keys })),
  set_meta_data: withData((data) => ({ kind: 'set-meta', data })),
  unset_meta_data: withKeys((keys) => ({ kind: 'unset-meta', keys })),
  playback_bg: background,
  stop_playback_bg: switched({ kind: 'stop-background' }),
  user_input: withText((text) => ({ kind: 'input', text })),
  wait_for_user: waitForUser,
  add_dynamic_hints: addHints,
  clear_dynamic_hints: switched({ kind: 'clear-hints' }),
  end_of_speech_timeout: withMs('endOfSpeechMs', [250, 10_000]),
  speech_event_timeout: withMs('speechEventMs', [0, 60_000]),
  settings,
  replace_in_history: replaceInHistory,
  back_to_back_functions: backToBack,
  extensive_data: extensiveData,
  user_event: withData((event) => ({ kind: 'user-event', event })),
}

/** Actions that are accepted and have no effect. */
const withoutEffect: ReadonlySet<string> = new Set(['functions_on_speaker_timeout'])

const readAction = (section: Section): readonly AgentEffect[] =>
  Object.keys(section.value).flatMap((name) => {
    const value = section.get(name)
    const read = Object.hasOwn(actions, name) ? actions[name] : undefined
    if (!read) {
      section.warn(name, withoutEffect.has(name) ? 'has no effect here' : 'is not an action')
      return []
    }
    if (value === undefined) return []
    const effects = read(value, section, name)
    if (!effects) section.warn(name, 'has a value that this action cannot use')
    return effects ?? []
  })

const readActions = (value: unknown, findings: Findings): readonly AgentEffect[] => {
  const items = Array.isArray(value) ? value : [value]
  const effects: AgentEffect[] = []
  for (const [index, item] of items.entries()) {
    const path = Array.isArray(value) ? `/action/${index}` : '/action'
    if (!isObject(item)) {
      if (item !== undefined && item !== null) findings.warn(path, 'must be an object of actions')
      continue
    }
    for (const effect of readAction(new Section(item, path, findings))) effects.push(effect)
    if (effects.length > maxEffects) {
      findings.warn('/action', `has more than ${maxEffects} actions; the others are left out`)
      break
    }
  }
  return effects.slice(0, maxEffects)
}

/** Returns the text for the model: the response itself, or the result with its instruction. */
const responseText = (value: unknown): string | undefined => {
  const text = textOf(value)
  if (text !== undefined || value === undefined || value === null) return text
  if (!isObject(value) || !('tool_result' in value || 'tool_prompt' in value)) return JSON.stringify(value)
  return [value.tool_result, value.tool_prompt]
    .filter((part) => part !== undefined && part !== null)
    .map((part) => textOf(part) ?? JSON.stringify(part))
    .join('\n')
}

/**
 * Reads the reply of a function, from a webhook or a data map: `{response, action, post_process}`, JSON in a
 * text, or a text that is the response. Never throws. Parts that cannot be understood are warnings.
 */
export const readReply = (value: unknown): FunctionReply => {
  const findings = new Findings()
  const failed = (message: string): FunctionReply => ({
    effects: [],
    postProcess: false,
    warnings: [{ path: '', message }],
  })
  const size = sizeFault(value, dataLimits)
  if (size !== undefined) return failed(size)
  const parsed = typeof value === 'string' ? jsonOf(value) : value
  if (typeof value === 'string' && !isObject(parsed)) return readReply({ response: value })
  if (!isObject(parsed)) return failed('must be an object')
  const reply = new Section(parsed, '', findings)
  const response = responseText(reply.get('response'))
  if (response !== undefined && response.length > maxResponseLength)
    reply.warn('response', `is cut after ${maxResponseLength} characters`)
  const effects = readActions(reply.get('action') ?? reply.get('actions'), findings)
  return {
    ...(response && { response: response.slice(0, maxResponseLength) }),
    effects,
    postProcess: reply.boolean('post_process') ?? false,
    warnings: findings.warnings,
  }
}
