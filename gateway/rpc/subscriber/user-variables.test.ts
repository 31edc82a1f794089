import { describe, expect, it } from 'vitest'
import { checkedMeta } from '../../rooms/room-meta.ts'
import { maxVariableCharacters, maxVariableDepth, maxVariables, readUserVariables } from './user-variables.ts'

const field = 'dialogParams.userVariables'

/** Returns an object with this number of levels. */
const nested = (levels: number): unknown =>
  Array.from({ length: levels - 1 }).reduce((inner) => ({ a: inner }), { a: 1 } as unknown)

const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, i]))

const faultOf = (value: unknown): string | undefined => {
  const read = readUserVariables(value)
  return 'fault' in read ? read.fault : undefined
}

describe('the variables of a page', () => {
  it('are accepted unchanged', () => {
    const given = { order: 7, vip: true, tags: ['a', null], deep: { name: '{{From}} %{call.from} <Say>' } }
    expect(readUserVariables(given)).toEqual({ variables: given })
  })

  it.each([undefined, null, {}])('may be absent: %j', (value) => {
    expect(readUserVariables(value)).toEqual({})
  })

  it.each(['text', 7, true, [1]])('must be an object: %j', (value) => {
    expect(faultOf(value)).toBe(`${field}: expected an object`)
  })

  it('have a maximum size', () => {
    const fitting = { a: 'x'.repeat(maxVariableCharacters - '{"a":""}'.length) }
    // They become metadata of a member of a room.
    expect(checkedMeta(fitting)).toBe(fitting)
    expect(readUserVariables(fitting)).toEqual({ variables: fitting })
    expect(faultOf({ a: `${fitting.a}x` })).toBe(
      `${field}: expected at most 2048 characters of JSON, found ${maxVariableCharacters + 1}`,
    )
  })

  it('have a maximum depth', () => {
    expect(faultOf(nested(maxVariableDepth))).toBeUndefined()
    expect(faultOf(nested(maxVariableDepth + 1))).toBe(`${field}: expected at most 8 levels`)
  })

  it('have a maximum number', () => {
    expect(faultOf(numbered(maxVariables))).toBeUndefined()
    expect(faultOf(numbered(maxVariables + 1))).toBe(`${field}: expected at most 128 values`)
    expect(faultOf({ list: [...numberedList(maxVariables)] })).toBe(`${field}: expected at most 128 values`)
  })

  it.each(['__proto__', 'constructor', 'prototype'])('must not have the name %s at any depth', (name) => {
    for (const text of [`{"${name}":1}`, `{"a":[{"${name}":{}}]}`])
      expect(faultOf(JSON.parse(text))).toBe(`${field}: the name ${name} is not permitted`)
  })
})

const numberedList = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
