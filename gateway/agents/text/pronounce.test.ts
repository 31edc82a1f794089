import { describe, expect, it } from 'vitest'
import type { AgentRewrite } from '../../../handlers/verbs.ts'
import { compileRewrites } from './pronounce.ts'

const rule = (replace: string, by: string, more = {}) => ({ replace, with: by, ignoreCase: false, ...more })

describe('rewriting', () => {
  it('replaces whole words, in order', () => {
    const { rewrite } = compileRewrites([rule('SW', 'SignalWire'), rule('SignalWire', 'signal wire')])
    expect(rewrite('SW, not SWIM or ASW; (SW)')).toBe('signal wire, not SWIM or ASW; (signal wire)')
  })

  it('can ignore case, and keeps the rest as it is', () => {
    const { rewrite } = compileRewrites([rule('sql', 'sequel', { ignoreCase: true })])
    expect(rewrite('İ SQL and Sql')).toBe('İ sequel and sequel')
  })

  it('replaces signs without boundaries', () => {
    expect(compileRewrites([rule('%', ' percent'), rule('', 'x')]).rewrite('5% of 3%')).toBe(
      '5 percent of 3 percent',
    )
    expect(compileRewrites([rule('aa', 'b')]).rewrite('aaa aa')).toBe('aaa b')
  })

  it('applies patterns, and names those that it ignores', () => {
    const { rewrite, ignored } = compileRewrites([
      rule('\\bv(\\d)', 'version ', { isPattern: true }),
      rule('(a)\\1', 'x', { isPattern: true }),
    ])
    expect(rewrite('v2 aa')).toBe('version  aa')
    expect(ignored).toEqual(['(a)\\1'])
  })

  it('inserts replacements as they are', () => {
    expect(compileRewrites([rule('price', '$& $1')]).rewrite('the price')).toBe('the $& $1')
  })
})

it('does not let rules that match what others insert grow a text without an end', () => {
  const doubling = Array.from({ length: 40 }, (_, i) => ({
    replace: `w${i}`,
    with: `w${i + 1} w${i + 1}`,
    ignoreCase: false,
  }))
  expect(compileRewrites(doubling).rewrite('w0').length).toBeLessThan(20_000)
  const patterns = doubling.map((rule) => ({ ...rule, replace: `\\b${rule.replace}\\b`, isPattern: true }))
  expect(compileRewrites(patterns).rewrite('w0').length).toBeLessThan(20_000)
})

it('applies no further patterns to a text when they have taken long', () => {
  const slow = { replace: '(.?){99}(.?){99}z', with: '', ignoreCase: true, isPattern: true }
  const fox = { replace: 'fox', with: 'dog', ignoreCase: true, isPattern: true }
  const text = 'the quick brown fox jumps over '.repeat(4)
  const rewrite = (count: number) =>
    compileRewrites([...Array.from({ length: count }, () => slow), fox]).rewrite
  expect(rewrite(1)(text)).toContain('dog')
  expect(rewrite(100)(text)).toBe(text)
  expect(rewrite(10)('fox')).toBe('dog')
})

it('reports that rules are too much work for a text', () => {
  const text = 'the quick brown fox '.repeat(50)
  const limits = (rules: readonly AgentRewrite[]) => {
    let count = 0
    compileRewrites(rules).rewrite(text, () => count++)
    return count
  }
  const pattern = (i: number) => ({ replace: `\\bw${i}\\b`, with: '', ignoreCase: true, isPattern: true })
  expect(limits(Array.from({ length: 100 }, (_, i) => pattern(i)))).toBe(0)
  expect(limits(Array.from({ length: 300 }, (_, i) => pattern(i)))).toBe(1)
  expect(limits([{ replace: 'fox', with: 'x'.repeat(500), ignoreCase: true }])).toBe(1)
})
