import { expressionFault } from '../../common/placeholders.ts'
import type { Method } from '../method.ts'
import { anyObject, anything, number, text } from '../schema-builders.ts'

const dest = text('Section of the script, URL of a script, or script as JSON text.')
const params = anyObject('Values that the section or script can read as params.')
const meta = anyObject('Accepted; it has no effect.')
const steps = anything('Steps.')
const branches = anything('Steps by the value of a variable, or by conditions.')

/** Methods that control the order of steps. */
export const flow: Readonly<Record<string, Method>> = {
  execute: {
    description: 'Runs a section or another script, and continues when that returns.',
    properties: { dest, params, meta, on_return: steps, result: branches },
    required: ['dest'],
    nested: { on_return: 'steps', result: 'branches' },
    failed: { return_value: undefined },
    run: async (values, script) => {
      const given = values.object('params') ?? {}
      const section = await script.find(values.needed('dest'), given)
      const { outcome, value } = await script.execute(section, given)
      if (outcome) return outcome
      script.variables.set('return_value', value)
      return (
        (await script.steps(values.steps('on_return'))) ??
        (await script.branch(values.branches('result'), 'return_value'))
      )
    },
  },
  transfer: {
    description: 'Continues with a section or another script, and does not return.',
    properties: { dest, params, meta },
    required: ['dest'],
    run: async (values, script) => {
      const given = values.object('params') ?? {}
      return { kind: 'transfer', to: await script.find(values.needed('dest'), given), params: given }
    },
  },
  return: {
    description: 'Returns to execute with a value, or ends the script.',
    properties: { value: anything('Any value; execute sets return_value to it.') },
    wholeParameter: 'value',
    run: async (values) => ({ kind: 'return', value: values.parameters.value }),
  },
  label: {
    description: 'Marks a target for goto.',
    properties: { name: text('Name of the label, unique in its list of steps.') },
    required: ['name'],
    wholeParameter: 'name',
    plain: ['name'],
    run: async () => undefined,
  },
  goto: {
    description: 'Continues at a label of this list of steps, or of an enclosing one.',
    properties: {
      label: text('Name of the label.'),
      when: text('JavaScript expression; jumps only if it is true. Default: always.'),
      max: number('Maximum number of jumps in one run of the section; default 100.', [1, 100]),
    },
    required: ['label'],
    plain: ['label', 'when'],
    texts: { when: expressionFault },
    run: async (values, script) => {
      const { label, when } = values.parameters
      if (when !== undefined && !(await script.holds(String(when)))) return undefined
      if (!script.mayJump(values.path, values.number('max') ?? 100)) return undefined
      return { kind: 'goto', label: String(label) }
    },
  },
  cond: {
    description: 'Runs the steps of the first true condition.',
    properties: { conditions: branches },
    required: ['conditions'],
    wholeParameter: 'conditions',
    nested: { conditions: 'conditions' },
    run: (values, script) => script.branch(values.branches('conditions'), ''),
  },
  switch: {
    description: 'Runs the steps for the value of a variable.',
    properties: { cases: branches },
    required: ['cases'],
    wholeParameter: 'cases',
    nested: { cases: 'cases' },
    run: (values, script) => script.branch(values.branches('cases'), ''),
  },
}
