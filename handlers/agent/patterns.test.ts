import { afterAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../script/sandbox/sandbox.ts'
import { matchPattern, parsePattern, translatePattern } from './patterns.ts'

const sandbox = new Sandbox({ after: () => ({ cancel: () => {} }) })
afterAll(() => sandbox.close())

const matches = (pattern: string, text: string): Promise<boolean> =>
  matchPattern(
    (expression, variables) => sandbox.evaluate(expression, variables),
    parsePattern(pattern),
    text,
  )

describe('a pattern of PCRE', () => {
  it.each([
    ['^a+$', 'aaa', 'aab'],
    ['/^yes$/i', 'YES', 'no'],
    ['(?i)yes', 'say YES', 'no'],
    ['/a.c/s', 'a\nc', 'abd'],
    ['a(?i:b)c', 'aBc', 'adc'],
    ['\\A\\d{3}\\z', '123', '1234'],
    ['\\Aa\\Z', 'a\n', 'ab'],
    ['^a++b*+c?+$', 'aabc', 'd'],
    ['^(?>ab|a)c', 'abc', 'b'],
    ['(?P<x>a)(?P=x)', 'aa', 'ab'],
    ['^[[:alpha:]_]+$', 'ab_', 'a1'],
    ['^[]a]+$', 'a]', 'b'],
    ['^[[a]+$', 'a[', 'b'],
    ['\\Qa.b\\E', 'a.b', 'acb'],
    ['^\\p{L}+$', 'é', '1'],
    ['^\\x{e9}$', 'é', 'e'],
    ['a\\h+b', 'a \tb', 'a\nb'],
    ['(?x) a b # comment', 'ab', 'a b'],
    ['/a b # c/x', 'ab', 'a b'],
    ['a(?# comment )b', 'ab', 'a b'],
    ['/path/to', '/path/to', 'path'],
    ['/a\\/b/', 'a/b', 'ab'],
    ['x{2,3}+y', 'xxy', 'xy'],
    ['a{1}}', 'a}', 'b'],
    ['^(?:yes|sure)\\b', 'sure thing', 'surely'],
  ])('%s matches %j and not %j', async (pattern, one, other) => {
    expect(await matches(pattern, one)).toBe(true)
    expect(await matches(pattern, other)).toBe(false)
  })

  it('that is faulty, too long or endless is an error', async () => {
    await expect(matches('(', 'a')).rejects.toThrow('SyntaxError')
    await expect(matches('(a+)+$', `${'a'.repeat(50)}b`)).rejects.toThrow('longer than')
    await expect(matches('a'.repeat(5000), 'a')).rejects.toThrow('4096 characters')
  })

  it.each(['\\', '[', '[\\', '(?', '(?P', '\\x{', '\\p', '\\Q', '[[:', '(?#', '(?x)#', '[^'])(
    'that ends early (%s) is translated to the end',
    (pattern) => {
      expect(translatePattern({ source: pattern, ignoreCase: false })).toBeDefined()
    },
  )
})
