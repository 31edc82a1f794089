import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from './pattern.ts'

describe('pattern', () => {
  it.each([
    ['stop|wait', 'please stop now', true],
    ['stop|wait', 'go on', false],
    ['^(hey )?computer\\b', 'Hey computer, stop', true],
    ['/\\bSTOP\\b/i', 'stopped', false],
    ['\\d{3,4}$', 'room 1234', true],
    ['\\Aa.c\\z', 'abc', true],
    ['[^a-c]+', 'abc', false],
    ['(?:ab){2}', 'xabab', true],
    ['(?i)größe', 'GRÖSSE', false],
    ['(?i)größe', 'GRÖßE', true],
    ['', 'anything', true],
    ['a*?b', 'aab', true],
  ])('%s on %j is %s', (pattern, text, isMatch) => {
    expect(compilePattern(pattern, true)!.matches(text)).toBe(isMatch)
  })

  it.each([
    '(a)\\1',
    '(){100}{100}{100}{100}{100}{100}',
    '(?:|){100}{100}{100}',
    '(?=a)',
    '(?<n>a)',
    'a++',
    '(a',
    'a)',
    '[a',
    '*a',
    'a{200}',
    '[[:alpha:]]',
    '(?>a)',
    '\\',
  ])('does not accept %s', (pattern) => {
    expect(compilePattern(pattern, false)).toBeUndefined()
  })

  it('replaces the first and longest matches', () => {
    expect(compilePattern('ab|abc', false)!.replace('xabcab', '-')).toBe('x--')
    expect(compilePattern('a*', false)!.replace('baac', '-')).toBe('b-c')
    expect(compilePattern('\\bSW\\b', true)!.replace('SW and sw, swim', 'SignalWire')).toBe(
      'SignalWire and SignalWire, swim',
    )
  })

  it('needs linear time for patterns that take exponential time otherwise', () => {
    expect(compilePattern('(a+)+$', false)!.matches(`${'a'.repeat(4000)}b`)).toBe(false)
    expect(compilePattern('(x+x+)+y', false)!.matches('x'.repeat(4000))).toBe(false)
  })

  it('agrees with RegExp', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(a|bc)', '(?:ab)', '\\b', '^', '$', '\\w')
    const part = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{1,2}', '|')).map(([a, b]) => a + b)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.stringMatching(/^[abc ]{0,8}$/), (parts, text) => {
        const source = parts.join('')
        const pattern = compilePattern(source, false)
        if (pattern) expect(pattern.matches(text)).toBe(new RegExp(source, 'u').test(text))
      }),
      { numRuns: 3000 },
    )
  })
})
