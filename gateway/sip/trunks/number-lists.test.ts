import { describe, expect, it } from 'vitest'
import { numberVerdict } from './number-lists.ts'

const keep = { prefix: '', plus: 'keep' } as const
const lists = (allow: readonly string[], refuse: readonly string[] = []) => ({ allow, refuse })
const permits = (
  user: string,
  given = lists(['+49'], ['+49900']),
  rules: Parameters<typeof numberVerdict>[2] = keep,
) => numberVerdict(given, user, rules)

describe('the lists of a carrier', () => {
  it.each([
    ['+4930123', true, '+49'],
    ['+49900123456', false, '+49900'],
    ['+4420123456', false, undefined],
    ['+49 (30) 1-23', true, '+49'],
    ['tel:+4930123', true, '+49'],
    // As the wire or the digits say that it is an international number.
    ['004930123', true, '+49'],
    ['0114930123', true, '+49'],
    ['0049900123456', false, '+49900'],
  ])('%s: number %s, result %s', (user, isPermitted, prefix) => {
    expect(permits(user)).toMatchObject({ isPermitted, ...(prefix && { prefix }) })
  })

  it('apply the longest matching prefix of both lists', () => {
    const given = lists(['+4', '+49900777'], ['+49', '+499'])
    expect(
      ['+44123', '+4930123', '+49900777123'].map((number) => permits(number, given).isPermitted),
    ).toEqual([true, false, true])
  })

  it('permit every number that is not refused if the allow list is empty', () => {
    const given = lists([], ['+882', '+1900'])
    expect(permits('+4930123', given)).toEqual({ isPermitted: true, number: '+4930123' })
    expect(permits('+882131234567', given)).toEqual({
      isPermitted: false,
      number: '+882131234567',
      prefix: '+882',
    })
  })

  it.each([
    ['00882131234567', keep],
    ['0000882131234567', keep],
    ['011882131234567', keep],
    // Without a plus a carrier may take it for an international number all the same.
    ['882131234567', keep],
    ['882131234567', { prefix: '', plus: 'add' }],
    ['882131234567', { prefix: '', plus: 'strip' }],
    ['882131234567', { prefix: '00', plus: 'strip' }],
    ['+882131234567', { prefix: '00', plus: 'strip' }],
    ['882131234567', { prefix: '+', plus: 'keep' }],
    // A local number of that country (RFC 3966), and a number that is routed there (RFC 4694).
    ['131234567;phone-context=+882', keep],
    ['131234567;PHONE-CONTEXT=+882', keep],
    ['+4930123;npdi;rn=+882131234567', keep],
    ['+4930123;rn=+8-8-2131234567', keep],
  ] as const)('refuse a number in every way in which it can be written: %s by %j', (user, rules) => {
    expect(permits(user, lists([], ['+882']), rules).isPermitted).toBe(false)
    expect(permits(user, lists(['+49'], ['+882']), rules).isPermitted).toBe(false)
  })

  it.each([
    ['110', true],
    ['115', false],
    ['030123456', true],
    ['0900123', false],
  ])('can contain numbers without a country code: %s', (number, isPermitted) => {
    expect(permits(number, lists(['110', '0', '+49'], ['0900'])).isPermitted).toBe(isPermitted)
  })

  it('allow a short local number that begins like a refused country code', () => {
    expect(permits('8821234', lists([], ['+882'])).isPermitted).toBe(true)
  })

  it.each([
    'alice',
    'conference;rn=+49301',
    '',
    '*31*0049301',
    '+49x',
    '+0491',
    `+49${'1'.repeat(20)}`,
    '4;rn=x',
  ])('refuse a text that is not a telephone number: %j', (user) => {
    expect(permits(user, lists([], ['+882']))).toEqual({ isPermitted: false })
    expect(permits(user, lists(['+49', '4'])).isPermitted).toBe(false)
  })
})
