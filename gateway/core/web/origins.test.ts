import { describe, expect, it } from 'vitest'
import { Origins } from './origins.ts'

describe('origins', () => {
  it('are decided by origin, and the own host is always one', () => {
    const origins = new Origins(['https://app.example.test/'])
    expect(origins.allows('https://APP.example.test', 'gw')).toBe(true)
    expect(origins.allows('http://gw:8080', 'gw:8080')).toBe(true)
    expect(origins.allows(undefined, 'gw')).toBe(true)
    expect(origins.allows('null', 'gw')).toBe(false)
    expect(new Origins(['*']).allows('https://x', 'gw')).toBe(true)
  })

  it('are trusted only by their names, and when they are our own', () => {
    const origins = new Origins(['*', 'https://app.example.test'])
    expect(origins.trusts('https://app.example.test', 'gw')).toBe(true)
    expect(origins.trusts('https://gw', 'gw')).toBe(true)
    expect(origins.trusts(undefined, 'gw')).toBe(true)
    expect(origins.trusts('https://x', 'gw')).toBe(false)
    expect(origins.trusts('null', undefined)).toBe(false)
    expect(new Origins([]).trusts('https://gw:8443', 'gw')).toBe(false)
  })
})

it('others may be let in from a moment on', () => {
  const origins = new Origins(['https://one.example'])
  origins.change(['https://two.example'])
  expect(origins.allows('https://one.example', 'gw.example')).toBe(false)
  expect(origins.allows('https://two.example', 'gw.example')).toBe(true)
  origins.change([])
  expect(origins.allows('https://one.example', 'gw.example')).toBe(true)
  expect(origins.trusts('https://one.example', 'gw.example')).toBe(false)
})
