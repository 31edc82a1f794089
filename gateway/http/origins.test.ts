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
})
