import type { Method } from '../method.ts'
import { anyObject } from '../schema-builders.ts'
import { asText } from '../variables.ts'

/** `vars.name` and `name` are the same variable. */
const nameOf = (text: string): string => text.replace(/^vars\./, '')

/** Variables of the script. */
export const assigning: Readonly<Record<string, Method>> = {
  set: {
    description: 'Sets variables, one after the other.',
    properties: { variables: anyObject('Values by name.') },
    required: ['variables'],
    wholeParameter: 'variables',
    raw: ['variables'],
    run: async (values, { variables }) => {
      for (const [name, value] of Object.entries(values.object('variables') ?? {}))
        variables.set(nameOf(name), await variables.resolve(value))
      return undefined
    },
  },
  unset: {
    description: 'Takes variables away.',
    properties: {
      names: {
        title: 'a name or a list of names',
        description: 'Which ones.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      },
    },
    required: ['names'],
    wholeParameter: 'names',
    run: async (values, { variables }) => {
      const { names } = values.parameters
      for (const name of Array.isArray(names) ? names : [names]) variables.unset(nameOf(asText(name)))
      return undefined
    },
  },
}
