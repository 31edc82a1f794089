import { badField, text } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

interface Body {
  readonly name: string
  readonly [setting: string]: unknown
}

/** Settings of an agent. */
const settings = ['prompt', 'post_prompt', 'params', 'pronounce', 'hints', 'languages', 'SWAIG'] as const
/** Maximum length of a setting in characters of JSON. */
const maxSettingLength = 65_536

const settingsOf = (body: Partial<Body>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(settings.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])))

/** Agents. The gateway stores their settings unchanged; agents cannot be called yet. */
export const aiAgents: ResourceKind<'ai_agent', Body> = {
  type: 'ai_agent',
  path: 'ai_agents',
  title: 'agent',
  properties: {
    name: text(),
    prompt: { type: 'object' },
    post_prompt: { type: 'object' },
    params: { type: 'object' },
    pronounce: { type: 'array', maxItems: 1000 },
    hints: { type: 'array', maxItems: 1000 },
    languages: { type: 'array', maxItems: 100 },
    SWAIG: { type: 'object' },
  },
  required: ['name'],
  answer: { name: { type: 'string' }, ...Object.fromEntries(settings.map((key) => [key, {}])) },
  create: (body) => ({ displayName: body.name, details: { settings: checked(settingsOf(body)) } }),
  change: (body, { details }) => ({
    displayName: body.name,
    details: { settings: checked({ ...details.settings, ...settingsOf(body) }) },
  }),
  show: ({ displayName, details }) => ({ name: displayName, ...details.settings }),
}

const checked = (all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  for (const [key, value] of Object.entries(all))
    if (JSON.stringify(value).length > maxSettingLength)
      throw badField(key, `It has at most ${maxSettingLength} characters of JSON.`)
  return all
}
