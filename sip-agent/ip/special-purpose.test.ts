import { describe, expect, it } from 'vitest'
import { isLinkLocal, isLoopback, isPrivate, isPublic, isUnusable } from './special-purpose.ts'

const questions = { isLoopback, isLinkLocal, isPrivate, isPublic, isUnusable }

/** Names of the questions that an address answers with yes. */
const answersFor = (address: string): string[] =>
  Object.entries(questions)
    .filter(([, question]) => question(address))
    .map(([name]) => name)

describe('an address', () => {
  it.each([
    ['127.0.0.1', ['isLoopback', 'isPrivate']],
    ['::1', ['isLoopback', 'isPrivate']],
    ['::ffff:127.0.0.1', ['isLoopback', 'isPrivate']],
    ['169.254.169.254', ['isLinkLocal', 'isPrivate']],
    ['fe80::1', ['isLinkLocal', 'isPrivate']],
    ['fe80::1%eth0', ['isLinkLocal', 'isPrivate']],
    ['febf::1', ['isLinkLocal', 'isPrivate']],
    ['10.1.2.3', ['isPrivate']],
    ['100.64.0.1', ['isPrivate']],
    ['172.31.255.255', ['isPrivate']],
    ['192.168.0.1', ['isPrivate']],
    ['fd00::1', ['isPrivate']],
    ['64:ff9b:1::1', ['isPrivate']],
    ['0.0.0.0', ['isUnusable']],
    ['224.0.0.1', ['isUnusable']],
    ['255.255.255.255', ['isUnusable']],
    ['::', ['isUnusable']],
    ['::8.8.8.8', ['isUnusable']],
    ['ff02::1', ['isUnusable']],
    ['192.0.2.1', []],
    ['198.18.0.1', []],
    ['2001:db8::1', []],
    ['2002:7f00:1::', []],
    ['64:ff9b::a00:1', []],
    ['4000::1', []],
    ['8.8.8.8', ['isPublic']],
    ['172.32.0.1', ['isPublic']],
    ['2606:4700::1111', ['isPublic']],
    ['::ffff:8.8.8.8', ['isPublic']],
    ['64:ff9b::808:808', ['isPublic']],
  ])('%s has the scopes %j', (address, expected) => {
    expect(answersFor(address)).toEqual(expected)
  })

  it.each(['', 'localhost', '127.1', '0x7f.1', '010.0.0.1', '10.0.0.1.', '1'])(
    'is not valid, and has no scope: %j',
    (text) => {
      expect(answersFor(text)).toEqual([])
    },
  )
})
