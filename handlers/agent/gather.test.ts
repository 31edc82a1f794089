import { expect, it } from 'vitest'
import type { GatherInfo, GatherQuestion } from './document-types.ts'
import { Gather } from './gather.ts'

const question = (key: string, more: Partial<GatherQuestion> = {}): GatherQuestion => ({
  key,
  question: `Your ${key}?`,
  type: 'string',
  confirm: false,
  isIsolated: false,
  ...more,
})

const info = (questions: readonly GatherQuestion[], more: Partial<GatherInfo> = {}): GatherInfo => ({
  questions,
  isIsolated: false,
  ...more,
})

it('asks one question after the other', () => {
  const gather = new Gather(info([question('name'), question('town')], { prompt: 'Be brief.' }))
  expect(gather.text).toContain('Be brief.\nAsk the caller this question: Your name?')
  expect(gather.submit({ answer: ' Ann ' })).toMatchObject({
    kind: 'next',
    text: expect.stringContaining('Your town?'),
  })
  expect(gather.text).toContain('Your town?')
  expect(gather.submit({ answer: 'Bonn' })).toMatchObject({
    kind: 'complete',
    data: { name: 'Ann', town: 'Bonn' },
  })
  expect(gather.question).toBeUndefined()
  expect(gather.function).toBeUndefined()
  expect(gather.submit({ answer: 'x' })).toMatchObject({ kind: 'again' })
})

it.each([
  ['integer', '12', 12],
  ['integer', 12.5, undefined],
  ['integer', 'twelve', undefined],
  ['integer', '', undefined],
  ['number', '12.5', 12.5],
  ['number', null, undefined],
  ['number', [], undefined],
  ['boolean', 'true', true],
  ['boolean', false, false],
  ['boolean', 'perhaps', undefined],
  ['string', 5, '5'],
  ['string', '  ', undefined],
  ['string', { a: 1 }, undefined],
] as const)('takes as %s the answer %j as %j', (type, answer, value) => {
  const result = new Gather(info([question('a', { type })])).submit({ answer })
  if (value === undefined)
    expect(result).toMatchObject({ kind: 'again', text: expect.stringContaining('must be') })
  else expect(result).toMatchObject({ kind: 'complete', data: { a: value } })
})

it('demands a confirmation', () => {
  const gather = new Gather(info([question('code', { confirm: true })]))
  expect(gather.function?.parameters).toMatchObject({ required: ['answer', 'confirmed_by_user'] })
  expect(gather.submit({ answer: '12' })).toMatchObject({ kind: 'again' })
  expect(gather.submit({ answer: '12', confirmed_by_user: false })).toMatchObject({ kind: 'again' })
  expect(gather.submit({ answer: '12', confirmed_by_user: true })).toMatchObject({ kind: 'complete' })
})

it('puts the answers below a key, whatever their names', () => {
  const gather = new Gather(info([question('__proto__')], { outputKey: 'order' }))
  const result = gather.submit({ answer: 'a' })
  expect(result.kind === 'complete' && JSON.stringify(result.data)).toBe('{"order":{"__proto__":"a"}}')
})
