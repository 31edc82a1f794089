import { resolve } from 'node:path'
import { closest } from '../../../handlers/common/spelling.ts'
import { isJsonObject } from '../../core/json.ts'
import type { Field } from './field.ts'
import { noiseKinds, type Speech, type Step } from './scenario.ts'

/** Longest wait for the agent if a step names none. */
const waitMs = 15_000
/** Time of the agent's speech before a sound over it. */
const overMs = 1000
const coughMs = 250
/** Delay of an echo if a step names none: that of a loudspeaker telephone on a good line. */
const echoMs = 100

const levelOf = (text: string): number | undefined => {
  const db = Number(/^(-\d{1,2}(?:\.\d)?) ?dB$/.exec(text)?.[1])
  return db < 0 ? db : undefined
}

/** Files that a scenario may name. */
export interface Files {
  /** Folder of the scenario. */
  readonly folder: string
  readonly hasFile: (path: string) => boolean
}

/** Returns the path of a file of the scenario. Reports a file that is missing. */
export const fileOf = (field: Field, { folder, hasFile }: Files): string => {
  const file = resolve(folder, field.text('the path of a file'))
  if (!hasFile(file)) field.fault('is a file that does not exist', { code: 'file-unreadable' })
  return file
}

const speechOf = (field: Field, files: Files): Speech => {
  if (!isJsonObject(field.value)) return { text: field.text('a text, or { wav: file, text: words }') }
  const read = field.mapping(['wav', 'text'])
  const text = read.at('text')
  return { text: text.isAbsent ? '' : text.text(), file: fileOf(read.at('wav'), files) }
}

/** Reader of the value of one action. `step`: the whole step, with the keys beside the action. */
type ReadAction = (field: Field, step: Field, files: Files) => Step

const readOver =
  (kind: 'over' | 'interrupt'): ReadAction =>
  (field, step, files) => ({
    kind,
    speech: speechOf(field, files),
    afterMs: step.at('after').duration(overMs),
    withinMs: step.at('within').duration(waitMs),
  })

const readers: Readonly<Record<string, { readonly read: ReadAction; readonly beside?: readonly string[] }>> =
  {
    say: { read: (field, _step, files) => ({ kind: 'say', speech: speechOf(field, files) }) },
    pause: { read: (field) => ({ kind: 'pause', ms: field.duration(1000) }) },
    wait: {
      read: (field, step) => ({
        kind: 'wait',
        for: field.choice(['agent', 'end']),
        withinMs: step.at('within').duration(waitMs),
      }),
      beside: ['within'],
    },
    over: { read: readOver('over'), beside: ['after', 'within'] },
    interrupt: { read: readOver('interrupt'), beside: ['after', 'within'] },
    cough: {
      read: (field, step) => ({
        kind: 'cough',
        ms: field.duration(coughMs, 5000),
        afterMs: step.at('after').duration(overMs),
        withinMs: step.at('within').duration(waitMs),
      }),
      beside: ['after', 'within'],
    },
    keys: {
      read: (field) => ({
        kind: 'keys',
        digits: field.quoted(
          (text) => (/^[0-9A-D*#]{1,64}$/.test(text) ? text : undefined),
          'keys of 0-9, A-D, * and #, at most 64',
          '',
        ),
      }),
    },
    echo: {
      read: (field, step) => {
        if (isOff(field)) return { kind: 'echo', echo: undefined }
        const db = field.parsed(levelOf, 'a level such as -20dB, or off', -20)
        return { kind: 'echo', echo: { db, delayMs: step.at('delay').duration(echoMs, 1000) } }
      },
      beside: ['delay'],
    },
    noise: {
      read: (field) => {
        if (isOff(field)) return { kind: 'noise', noise: undefined }
        const what = `a kind and a level such as street -30dB, or off; kinds are ${noiseKinds.join(', ')}`
        return { kind: 'noise', noise: field.parsed(noiseOf, what, undefined) }
      },
    },
    loss: {
      read: (field) => ({
        kind: 'loss',
        share: isOff(field) ? 0 : field.parsed(shareOf, 'a share such as 2%, at most 50%, or off', 0),
      }),
    },
    hangup: { read: () => ({ kind: 'hangup' }) },
  }

/** Whether a value ends a change. `off` is a truth in older YAML. */
const isOff = ({ value }: Field): boolean => value === 'off' || value === false

const noiseOf = (text: string): { type: (typeof noiseKinds)[number]; db: number } | undefined => {
  const [kind, level = ''] = text.split(' ', 2)
  const type = noiseKinds.find((each) => each === kind)
  const db = levelOf(level)
  return type && db !== undefined ? { type, db } : undefined
}

const shareOf = (text: string): number | undefined => {
  const percent = Number(/^(\d{1,2}(?:\.\d)?) ?%$/.exec(text)?.[1])
  return percent <= 50 ? percent / 100 : undefined
}

const names = Object.keys(readers)

/** Names of steps that are complete without a value. */
const plain = ['cough', 'hangup']

/** Returns a step. Reports one that has no action, several, or keys that do not belong to it. */
export const readStep = (field: Field, files: Files): Step => {
  const { value } = field
  const nothing: Step = { kind: 'hangup' }
  if (typeof value === 'string') {
    if (plain.includes(value)) return readers[value]!.read(field.at(value), field.at(value), files)
    const near = closest(value, names)
    const hint = near === undefined ? `steps are ${names.join(', ')}` : `did you mean \`${near}\`?`
    field.fault('is not a step that needs no value', { hint })
    return nothing
  }
  if (!isJsonObject(value)) {
    field.fault(`must be a step, such as { say: Hello. }; steps are ${names.join(', ')}`)
    return nothing
  }
  const actions = Object.keys(value).filter((key) => Object.hasOwn(readers, key))
  const [name = ''] = actions
  if (actions.length > 1) field.fault(`must have one action, not ${actions.join(' and ')}`, { quote: false })
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
  if (!reader) {
    field.mapping(names)
    if (Object.keys(value).length === 0) field.fault(`must have one action of ${names.join(', ')}`)
    return nothing
  }
  if (actions.length === 1) field.mapping([name, ...(reader.beside ?? [])])
  return reader.read(field.at(name), field, files)
}
