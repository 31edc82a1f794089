import { list, type Schema, text } from '../script/schema-builders.ts'
import type { Condition, Options } from './node.ts'

/** Schema of the name of an outcome. */
export const outcomeName: Schema = {
  ...text('Name of the outcome.', 'a name of letters, digits, _ and -'),
  pattern: '^[A-Za-z0-9_-]{1,64}$',
}

/** Schema of a list of conditions. */
export const conditionList = (description: string): Schema =>
  list(
    description,
    'a list of 1 to 50 conditions',
    {
      title: 'a condition (an object with name and when)',
      type: 'object',
      properties: {
        name: outcomeName,
        when: text('JavaScript expression; the first true condition counts.'),
      },
      required: ['name', 'when'],
      additionalProperties: false,
    },
    { minItems: 1, maxItems: 50 },
  )

/** Returns the conditions of a node. */
export const conditionsOf = (options: Options): readonly Condition[] =>
  (options.conditions ?? []) as readonly Condition[]

/** Returns the names of a node's conditions. */
export const conditionNames = (options: Options): readonly string[] =>
  conditionsOf(options).map(({ name }) => name)
