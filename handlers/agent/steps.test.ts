import { expect, it } from 'vitest'
import type { AgentContext, AgentStep } from './document-types.ts'
import { Steps } from './steps.ts'

const step = (name: string, more: Partial<AgentStep> = {}): AgentStep => ({
  name,
  text: `Do ${name}.`,
  validSteps: [],
  validContexts: [],
  skipUserTurn: false,
  skipToNextStep: false,
  end: false,
  history: 'default',
  ...more,
})

const context = (
  name: string,
  steps: readonly AgentStep[],
  more: Partial<AgentContext> = {},
): AgentContext => ({
  name,
  steps,
  reset: { consolidate: false, fullReset: false },
  isIsolated: false,
  history: 'default',
  ...more,
})

const of = (...contexts: readonly AgentContext[]) =>
  new Steps(new Map(contexts.map((item) => [item.name, item])))

const waysOf = (steps: Steps) =>
  steps.functions.map(({ name, parameters }) => {
    const [property] = Object.values(parameters.properties as Record<string, { enum?: string[] }>)
    return `${name} ${property?.enum?.join() ?? ''}`
  })

it('adds nothing without contexts', () => {
  const steps = of()
  expect([steps.text, steps.allowed, steps.functions]).toEqual(['', undefined, []])
  expect(steps.next()).toMatchObject({ kind: 'refused' })
  expect(steps.goToContext('x')).toMatchObject({ kind: 'refused', text: 'There is no context x.' })
})

it('goes through the steps in order', () => {
  const steps = of(
    context('default', [step('one', { criteria: 'a name is known' }), step('two')], { text: 'Sell.' }),
  )
  expect(steps.text).toBe(
    'Sell.\n\nPresent step of the conversation: one\nDo one.\nThe step is done when: a name is known',
  )
  expect(waysOf(steps)).toEqual(['next_step two'])
  expect(steps.next('two')).toMatchObject({ kind: 'moved', step: 'two', isNewContext: false, fillers: [] })
  expect(steps.functions).toEqual([])
  expect(steps.next()).toEqual({ kind: 'refused', text: 'There is no further step.' })
})

it('goes only where the step permits, with next as the following one', () => {
  const steps = of(
    context('default', [
      step('one', { validSteps: ['three', 'next', 'absent'] }),
      step('two'),
      step('three'),
    ]),
  )
  expect(waysOf(steps)).toEqual(['next_step three,two'])
  expect(steps.next('four')).toEqual({ kind: 'refused', text: 'The step must be one of: three, two.' })
  expect(steps.next('three')).toMatchObject({ step: 'three' })
})

it('lets an action go to any step', () => {
  const steps = of(context('default', [step('one', { validSteps: ['two'] }), step('two'), step('three')]))
  expect(steps.goToStep('three')).toMatchObject({ step: 'three' })
  expect(steps.goToStep('next')).toMatchObject({ kind: 'refused' })
  expect(steps.goToStep('one')).toMatchObject({ step: 'one' })
  expect(steps.goToStep('next')).toMatchObject({ step: 'two' })
})

it('keeps the functions of the step before, until a step names its own', () => {
  const steps = of(
    context('default', [step('one', { functions: ['a'] }), step('two'), step('three', { functions: [] })]),
    context('other', [step('four')]),
  )
  expect(steps.allowed).toEqual(['a'])
  steps.next()
  expect(steps.allowed).toEqual(['a'])
  steps.next()
  expect(steps.allowed).toEqual([])
  steps.goToContext('other')
  expect(steps.allowed).toBeUndefined()
})

it('has no way on after a step that ends the step mode', () => {
  const steps = of(context('default', [step('one', { end: true }), step('two')]))
  expect(steps.functions).toEqual([])
})

it('changes contexts with fillers, a reset and a first step', () => {
  const reset = { systemPrompt: 'New.', consolidate: true, fullReset: false }
  const steps = of(
    context('default', [step('one', { validContexts: ['sales', 'default', 'absent'] })], {
      exitFillers: { default: ['Bye'] },
    }),
    context('sales', [step('two'), step('three', { skipUserTurn: true })], {
      enterFillers: { 'en-US': ['Hi'] },
      initialStep: 'three',
      isIsolated: true,
      reset,
    }),
  )
  expect(waysOf(steps)).toEqual(['change_context sales'])
  expect(steps.changeContext('default')).toEqual({
    kind: 'refused',
    text: 'The context must be one of: sales.',
  })
  expect(steps.changeContext('sales')).toEqual({
    kind: 'moved',
    from: { context: 'default', step: 'one' },
    text: 'Present step of the conversation: three\nDo three.',
    context: 'sales',
    step: 'three',
    isNewContext: true,
    reset,
    isIsolated: true,
    fillers: [{ default: ['Bye'] }, { 'en-US': ['Hi'] }],
    speaksOn: true,
  })
  expect(steps.goToContext('default')).toMatchObject({ isIsolated: false })
})

it.each([
  ['keep', false],
  ['default', true],
  ['hide', true],
] as const)('with the history %s of a step, an isolated context is isolated: %s', (history, isIsolated) => {
  const steps = of(context('default', []), context('x', [step('one', { history })], { isIsolated: true }))
  expect(steps.goToContext('x')).toMatchObject({ isIsolated })
})

it('gathers answers before it goes on', () => {
  const question = { question: 'Age?', type: 'integer', confirm: false, isIsolated: false } as const
  const gather = {
    questions: [{ ...question, key: 'age', functions: ['b'] }],
    isIsolated: false,
    completionAction: 'next_step',
  }
  const steps = of(context('default', [step('one', { functions: ['a'], gather }), step('two')]))
  expect(steps.text).toContain('Age?')
  expect(steps.allowed).toEqual(['b'])
  expect(waysOf(steps)).toEqual(['gather_submit '])
  expect(steps.submit({ answer: 'old' })).toMatchObject({ kind: 'again' })
  expect(steps.submit({ answer: 40 })).toMatchObject({ kind: 'complete', data: { age: 40 } })
  expect(steps.allowed).toEqual(['a'])
  expect(waysOf(steps)).toEqual(['next_step two'])
  expect(steps.afterGather()).toMatchObject({ kind: 'moved', step: 'two' })
  expect(steps.afterGather()).toBeUndefined()
  expect(steps.submit({ answer: 1 })).toMatchObject({ kind: 'again' })
})

it('keeps the model in a step whose questions are open', () => {
  const gather = {
    questions: [{ key: 'age', question: 'Age?', type: 'integer', confirm: false, isIsolated: false }],
    isIsolated: false,
  } as const
  const steps = of(
    context('default', [step('one', { gather, validContexts: ['sales'] }), step('two')]),
    context('sales', [step('sell')]),
  )
  for (const move of [steps.next(), steps.changeContext('sales')])
    expect(move).toMatchObject({ kind: 'refused', text: expect.stringContaining('answered first') })
  steps.submit({ answer: '41' })
  expect(steps.next()).toMatchObject({ kind: 'moved', step: 'two' })
})
