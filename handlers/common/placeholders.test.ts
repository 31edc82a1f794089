// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these texts are under test
import { describe, expect, it } from 'vitest'
import {
  absentFunction,
  changedPath,
  hasPlaceholder,
  isPath,
  partsOf,
  piecesOf,
  placeholderFault,
  segmentsOf,
} from './placeholders.ts'

describe('placeholders', () => {
  it.each([
    ['a ${b} %{c}', [{ literal: 'a ' }, { expression: 'b' }, { literal: ' ' }, { expression: 'c' }]],
    ['%{ x }', [{ expression: 'x' }]],
    ['${list.map((x) => ({ x }))}!', [{ expression: 'list.map((x) => ({ x }))' }, { literal: '!' }]],
    ['${"}" + \'{\'}', [{ expression: '"}" + \'{\'' }]],
    ['${"\\"}"}', [{ expression: '"\\"}"' }]],
    ['${`a${b}`}', [{ expression: '`a${b}`' }]],
    ['5 % {a} $ {b}', [{ literal: '5 % {a} $ {b}' }]],
    ['${a', [{ literal: '${a' }]],
    ['', []],
  ])('%s is split at them', (text, parts) => {
    expect(partsOf(text)).toEqual(parts)
  })

  it.each([
    ['${a', 'unterminated'],
    ['%{"a}', 'unterminated'],
    ['${}', 'empty'],
    [`\${${'x'.repeat(1025)}}`, 'more than 1024'],
  ])('%s is a fault', (text, fault) => {
    expect(placeholderFault(text)).toContain(fault)
  })

  it('may have 1024 characters', () => {
    expect(placeholderFault(`\${${'x'.repeat(1024)}} and \${a.b}`)).toBeUndefined()
  })

  it('are paths or JavaScript', () => {
    for (const path of ['a', 'vars.a_b[0].c', "call['x y'].z", 'h.content-type'])
      expect(isPath(path)).toBe(true)
    for (const code of ['(a.length)', 'a + 1', 'f()', 'true', 'null', '1', '"a"', '!a'])
      expect(isPath(code)).toBe(false)
    expect(segmentsOf('call["a b"][0].c-d')).toEqual(['call', 'a b', '0', 'c-d'])
  })

  it('may change the text of a path by functions, from the left', () => {
    const made = (expression: string, text: string) => changedPath(expression)?.change(text)
    expect(changedPath('lc:enc:url:vars.city')?.path).toBe('vars.city')
    expect(made('lc:a', 'New York')).toBe('new york')
    expect(made('enc:url:a', 'Köln & A/B\ud800')).toBe('K%C3%B6ln%20%26%20A%2FB%EF%BF%BD')
    expect(made('lc:enc:url:a', 'Ä+')).toBe('%C3%A4%2B')
    expect(made('enc:url:lc:a', 'Ä+')).toBe('%c3%84%2b')
    for (const none of ['a', 'uc:a', 'lc:', 'lc:a + 1', 'enc:a', 'lc: a', 'lc:enc:url:lc:lc:lc:a'])
      expect(changedPath(none)).toBeUndefined()
    expect(made('enc:url:enc:url:enc:url:enc:url:a', '%')).toBe('%25252525')
  })
})

describe('functions', () => {
  it.each([
    ['a @{echo b} c', [{ literal: 'a ' }, { name: 'echo', argument: 'b' }, { literal: ' c' }]],
    ["@{separate it's}", [{ name: 'separate', argument: "it's" }]],
    ['@{echo ${"}"} {b}}', [{ name: 'echo', argument: '${"}"} {b}' }]],
    ['@{echo}', [{ name: 'echo', argument: '' }]],
    ['@{echo @{echo a}}', [{ name: 'echo', argument: '@{echo a}' }]],
    ['${"@{echo a}"}', [{ literal: '${"@{echo a}"}' }]],
    ['@{echo a', [{ literal: '@{echo a' }]],
    ['a@{b} @{fmt_ph e164 1} @{echoes a}', [{ literal: 'a@{b} @{fmt_ph e164 1} @{echoes a}' }]],
    ['', [{ literal: '' }]],
  ])('%s is split at them', (text, pieces) => {
    expect(piecesOf(text)).toEqual(pieces)
  })

  it('are read once, regardless of the number of unclosed ones', () => {
    // A scan to the end from each opening would take hours.
    expect(piecesOf('@{echo '.repeat(500_000))).toHaveLength(1)
    expect(piecesOf('@{'.repeat(1_000_000))).toHaveLength(1)
  })

  it('defer a value to run time', () => {
    expect(['@{echo a}', 'a', '@{a}', '@{sleep 1}'].map(hasPlaceholder)).toEqual([true, false, false, false])
    expect(['@{fmt_ph e164 1}', 'x @{sleep 1}', '@{echo a}'].map(absentFunction)).toEqual([
      'fmt_ph',
      'sleep',
      undefined,
    ])
  })
})
