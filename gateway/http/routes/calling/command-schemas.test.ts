import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../../../handlers/reading/check-document.ts'
import { callCommands } from '../../../calling/call-commands.ts'
import { Fields } from '../../../calling/operations/command-fields.ts'
import { type CommandedCall, commands } from '../../../calling/operations/command-table.ts'
import { endReasons } from '../../../calling/operations/end-reasons.ts'
import { FakeAgentCommands } from '../../../calling/testing/fake-agent-commands.ts'
import { checksOf } from '../shared/document-checks.ts'
import { readDial, readUpdate } from './calling-commands.ts'
import { commandParams, commandSchemas, schemaNameOf } from './command-schemas.ts'

type Json = Record<string, unknown>

const url = 'https://app.example.com/hello.json'
const events = { status_url: url, status_events: ['answered'] }
const silence = { type: 'silence', params: { duration: 1 } }
const input = {
  digits: { max: 4, digit_timeout: 2, terminators: '#' },
  speech: { language: 'en-US', hints: ['yes'], end_silence_timeout: 1, speech_timeout: 10 },
  initial_timeout: 5,
  partial_results: true,
}
const controlled = { control_id: 'my-operation' }
const withVolume = { ...controlled, volume: 3 }
const audio = {
  format: 'wav',
  stereo: true,
  direction: 'both',
  beep: true,
  terminators: '#',
  initial_timeout: 5,
  end_silence_timeout: 1,
  input_sensitivity: 40,
}

/** A request of each command, with all parameters that can be given together. */
const complete: Readonly<Record<string, readonly Json[]>> = {
  dial: [
    {
      from: '+15550100',
      to: 'sip:desk@carrier.example',
      url,
      fallback_url: url,
      url_method: 'GET',
      ...events,
      caller_id: '+15550101',
      username: 'u',
      password: 'p',
      timeout: 30,
      codecs: ['PCMU'],
      send_digits: 'w1#',
      custom_variables: { order: 7 },
    },
    { from: '+15550100', to: '+15550102', swml: { version: '1.0.0', sections: { main: ['hangup'] } } },
  ],
  update: [
    { id: 'a', url, fallback_url: url, url_method: 'POST', ...events },
    { id: 'a', status: 'completed' },
    { id: 'a', swml: 'sections:\n  main:\n    - hangup\n' },
  ],
  'calling.end': [{ reason: 'busy' }],
  'calling.disconnect': [{}],
  'calling.transfer': [{ dest: '/public/menu' }],
  'calling.play': [{ ...withVolume, play: [silence] }],
  'calling.record': [{ ...controlled, record: { audio } }],
  'calling.record.pause': [{ ...controlled, behavior: 'skip' }],
  'calling.play_and_collect': [{ ...withVolume, play: [silence], collect: input }],
  'calling.collect': [
    { ...controlled, ...input, continuous: true, send_start_of_input: true, start_input_timers: true },
  ],
  'calling.detect': [
    {
      ...controlled,
      timeout: 30,
      detect: {
        type: 'machine',
        params: {
          initial_timeout: 4,
          end_silence_timeout: 1,
          machine_ready_timeout: 5,
          machine_voice_threshold: 2,
          machine_words_threshold: 6,
        },
      },
    },
    { ...controlled, detect: { type: 'fax', params: { tone: 'CNG' } } },
    { ...controlled, detect: { type: 'digit', params: { digits: '12' } } },
  ],
  'calling.tap': [
    {
      ...controlled,
      tap: { type: 'audio', params: { direction: 'both' } },
      device: { type: 'ws', params: { uri: 'wss://app.example.com', codec: 'L16', rate: 16_000 } },
    },
    { ...controlled, device: { type: 'rtp', params: { addr: '192.0.2.1', port: 4000, codec: 'PCMA' } } },
  ],
  'calling.stream': [
    {
      ...controlled,
      url: 'wss://app.example.com',
      name: 'live',
      track: 'both_tracks',
      codec: 'L16@24000h',
      custom_parameters: { order: '7' },
      authorization_bearer_token: 't',
    },
  ],
  'calling.send_digits': [{ ...controlled, digits: '12#' }],
  'calling.refer': [
    {
      ...controlled,
      device: { type: 'sip', params: { to: 'sip:a@b.example', username: 'u', password: 'p' } },
    },
  ],
  'calling.hold': [{}],
  'calling.unhold': [{}],
  'calling.user_event': [{ event: { order: 7 } }],
  'calling.ai_hold': [{ timeout: '60', prompt: 'Say goodbye.' }, { timeout: 60 }],
  'calling.ai_unhold': [{ prompt: 'Greet again.' }],
  'calling.ai_message': [
    {
      role: 'user',
      message_text: 'Hello?',
      reset: { full_reset: true, user_prompt: 'Hi.', system_prompt: 'A pirate.' },
      global_data: { order: 7 },
    },
  ],
}

const completeOf = (command: string): readonly Json[] =>
  complete[command] ?? [command.endsWith('.volume') ? withVolume : controlled]

const ajv = new Ajv({ strict: false })
addFormats.default(ajv)
const schemas: Readonly<Record<string, ValidateFunction>> = Object.fromEntries(
  commandSchemas.map(({ $id, ...schema }) => [$id, ajv.compile(schema)]),
)

const isDocumented = (command: string, params: unknown): boolean =>
  schemas[schemaNameOf(command)]!({ command, id: 'a', params })

const nothing = () => {}
const operation = { stop: nothing, pause: nothing, resume: nothing, setVolume: nothing, startTimers: nothing }

/** Call whose operations exist and do nothing. */
const call = {
  id: 'a',
  nodeId: 'n',
  quirks: {},
  sendEvent: () => {},
  control: {
    hold: async () => {},
    unhold: async () => {},
    sendUserEvent: () => true,
    agentCommands: new FakeAgentCommands(),
  },
  operations: { check: () => 'new', accept: () => () => {}, find: () => operation },
} as unknown as CommandedCall

const check = checksOf({ check: async (_project, kind, text) => checkDocument(kind, text) }, 'p')

/** Returns whether the gateway accepts the parameters of a command. */
const isAccepted = async (command: string, given: unknown): Promise<boolean> => {
  try {
    if (command === 'dial') await readDial(given, { projectId: 'p', check })
    else if (command === 'update') await readUpdate(given, check)
    else if (command === 'calling.end') new Fields(given).oneOf('reason', endReasons)
    else if (command === 'calling.transfer') new Fields(given).needed('dest')
    else if (command === 'calling.disconnect') new Fields(given)
    else await commands[command]?.(call, new Fields(given))
    return true
  } catch (error) {
    if (['Refusal', 'TrunklineError'].includes((error as Error).name)) return false
    throw error
  }
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
}

/** Returns values that a schema forbids. */
const wrongOf = (schema: Schema): unknown[] => [
  ...(schema.type === 'string' ? [7] : ['wrong']),
  ...(schema.enum || schema.pattern ? ['wrong'] : []),
  ...(schema.minLength ? [''] : []),
  ...(schema.minimum === undefined ? [] : [schema.minimum - 1]),
  ...(schema.maximum === undefined ? [] : [schema.maximum + 1]),
  ...(schema.type === 'integer' ? [1.5] : []),
  ...(schema.maxLength ? ['1'.repeat(schema.maxLength + 1)] : []),
  ...(schema.maxItems ? [Array.from({ length: schema.maxItems + 1 }, () => 'x')] : []),
]

/** Returns copies of a value, each with one fault that the schema names. */
const faulty = (schema: Schema, value: unknown): unknown[] => {
  if (Array.isArray(value) && schema.items)
    return faulty(schema.items, value[0]).map((first) => [first, ...value.slice(1)])
  if (typeof value !== 'object' || value === null) return []
  const object = value as Json
  return Object.entries(object).flatMap(([name, field]) => {
    const own = schema.properties?.[name]
    const without = Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
    const missing = schema.required?.includes(name) ? [without] : []
    if (!own?.type) return missing
    const inside = [...wrongOf(own), ...faulty(own, field)]
    return [...missing, ...inside.map((wrong) => ({ ...object, [name]: wrong }))]
  })
}

describe('the documented commands', () => {
  it('are those of the gateway', () => {
    expect(Object.keys(commandParams).toSorted()).toEqual(['dial', 'update', ...callCommands].toSorted())
  })

  it.each(Object.keys(commandParams))('%s is documented as the gateway reads it', async (command) => {
    const params = commandParams[command]![1] as Schema
    for (const given of completeOf(command)) {
      expect([isDocumented(command, given), await isAccepted(command, given)], 'complete').toEqual([
        true,
        true,
      ])
      for (const name of Object.keys(given)) expect(params.properties).toHaveProperty([name])
      for (const wrong of faulty(params, given)) {
        const text = JSON.stringify(wrong).slice(0, 200)
        expect([isDocumented(command, wrong), await isAccepted(command, wrong)], text).toEqual([false, false])
      }
    }
  })

  it('name every parameter in one of the requests above', () => {
    const unused = Object.entries(commandParams).flatMap(([command, [, schema]]) =>
      Object.keys((schema as Schema).properties ?? {})
        .filter((name) => !completeOf(command).some((given) => name in given))
        .map((name) => `${command} ${name}`),
    )
    expect(unused).toEqual([])
  })
})
