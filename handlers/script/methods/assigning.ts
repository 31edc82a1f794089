import { asText } from '../../common/as-text.ts'
import type { Method } from '../method.ts'
import { anyObject } from '../schema-builders.ts'

/** Returns the name of a variable without its prefix: `vars.name` and `name` are the same variable. */
const nameOf = (text: string): string => text.replace(/^vars\./, '')

/** Methods that set and remove variables. */
export const assigning: Readonly<Record<string, Method>> = {
  set: {
    description: 'Sets variables, in order.',
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
    description: 'Removes variables.',
    properties: {
      names: {
        title: 'a name or a list of names',
        description: 'Names of the variables.',
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
