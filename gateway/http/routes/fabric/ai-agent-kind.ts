import { keysOfPointer } from '../../../../config/faults.ts'
import { readAgent } from '../../../../handlers/agent/document.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { maxAgentBytes } from '../../../directory/model/agent-script.ts'
import { badField, text } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

type Settings = Readonly<Record<string, unknown>>

interface Body {
  readonly name: string
  readonly [setting: string]: unknown
}

const object = { type: ['object', 'null'] } as const
/** Prompt with its settings, or its text alone. */
const promptOrText = { type: ['object', 'string', 'null'] } as const
const credential = { type: ['string', 'null'], maxLength: 255 } as const
const list = (maxItems: number) => ({ type: ['array', 'null'], maxItems }) as const

/** Schemas of the settings of an agent, which are the keys of `ai` in scripts. */
const settings = {
  prompt: promptOrText,
  post_prompt: promptOrText,
  post_prompt_url: { type: ['string', 'null'], maxLength: 2048 },
  post_prompt_auth_user: credential,
  post_prompt_auth_password: credential,
  params: object,
  pronounce: list(1000),
  hints: list(1000),
  languages: list(100),
  multilingual: object,
  global_data: object,
  SWAIG: object,
} as const

/** Maximum number of faults in a response. */
const maxShownFaults = 10

/** Returns the present settings changed by those of a body; null removes a setting. */
const merged = (present: Settings, body: Partial<Body>): Settings =>
  Object.fromEntries(
    Object.keys(settings).flatMap((key) => {
      const value = body[key] === undefined ? present[key] : body[key]
      return value === undefined || value === null ? [] : [[key, value]]
    }),
  )

const hasSettings = (body: Partial<Body>): boolean =>
  Object.keys(settings).some((key) => body[key] !== undefined)

/** Voice agents. The gateway stores their settings unchanged. */
export const aiAgents: ResourceKind<'ai_agent', Body> = {
  type: 'ai_agent',
  path: 'ai_agents',
  title: 'agent',
  properties: { name: text(), ...settings },
  required: ['name'],
  answer: {
    name: { type: 'string' },
    ...Object.fromEntries(Object.keys(settings).map((key) => [key, {}])),
  },
  create: (body) => ({ displayName: body.name, details: { settings: checked(merged({}, body)) } }),
  change: (body) => ({
    displayName: body.name,
    ...(hasSettings(body) && {
      details: (stored) => ({ settings: checked(merged(stored.settings, body)) }),
    }),
  }),
  show: ({ displayName, details }) => ({ name: displayName, ...details.settings }),
}

/**
 * Returns settings with which an agent can run. Throws `invalid_field` for too large ones, and
 * `document_invalid` with the place of each fault. Warnings do not refuse: the parts have no effect.
 */
const checked = (all: Settings): Settings => {
  const sizes = Object.entries(all).map(([key, value]) => ({ key, bytes: sizeOf(value) }))
  const [largest] = sizes.toSorted((a, b) => b.bytes - a.bytes)
  if (largest && sizeOf(all) > maxAgentBytes)
    throw badField(largest.key, `The settings have at most ${maxAgentBytes} bytes of JSON together.`)
  const { faults } = readAgent(all)
  const [first] = faults
  if (!first) return all
  const texts = faults.slice(0, maxShownFaults).map(({ path, message }) => `${path || '/'}: ${message}.`)
  const more = faults.length > maxShownFaults ? [`… and ${faults.length - maxShownFaults} more.`] : []
  const attribute = keysOfPointer(first.path).join('.') || 'prompt'
  throw new TrunklineError('document_invalid', [...texts, ...more].join(' '), { attribute })
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
