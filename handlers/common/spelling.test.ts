import { describe, expect, it } from 'vitest'
import { closest, didYouMean } from './spelling.ts'

describe('a misspelt name', () => {
  it.each([
    ['drian', ['domains', 'drain'], 'drain'],
    ['scirpt', ['xml', 'script', 'flow'], 'script'],
    ['paly', ['pay', 'play', 'prompt'], 'play'],
    ['Puase', ['Play', 'Pause'], 'Pause'],
    ['maxcalls', ['maxCalls'], 'maxCalls'],
    ['cals', ['calls'], 'calls'],
    ['primary_request_uri', ['primary_request_url', 'primary_request_method'], 'primary_request_url'],
    ['/public/alcie', ['/public/alice', '/public/bob'], '/public/alice'],
  ])('%s among %j suggests %s', (name, candidates, expected) => {
    expect(closest(name, candidates)).toBe(expected)
    expect(didYouMean(name, candidates)).toBe(` Did you mean \`${expected}\`?`)
  })

  it.each([
    ['xyz', ['play', 'prompt']],
    ['a', ['b', 'to']],
    ['', ['a', 'to']],
    ['play', []],
    ['x'.repeat(100_000), ['play', 'x'.repeat(70)]],
  ])('%s is similar to none of %j', (name, candidates) => {
    expect(closest(name, candidates)).toBeUndefined()
    expect(didYouMean(name, candidates)).toBe('')
  })
})
