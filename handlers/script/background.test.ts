import { expect, it } from 'vitest'
import { VerbFailed } from '../verbs.ts'
import { Background } from './background.ts'

const ongoing = (id: string) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const item = { id, ended, end, stopped: 0, stop: () => void item.stopped++ }
  return item
}

it('frees the control id of a stream at once when it is stopped', async () => {
  const streams = new Background('stream')
  const first = ongoing('1')
  const second = ongoing('2')
  streams.add(first, 'a')
  expect(() => streams.check('a')).toThrow(VerbFailed)
  expect(streams.stop('a')).toBe(first)
  streams.check('a')
  streams.add(second, 'a')
  first.end()
  await first.ended
  expect(streams.stop(undefined)).toBe(second)
  expect([first.stopped, second.stopped]).toEqual([1, 1])
  expect(() => streams.stop(undefined)).toThrow('No such stream is running.')
})

it('forgets ended operations', async () => {
  const streams = new Background('stream')
  const stream = ongoing('1')
  expect(streams.add(stream)).toBe('1')
  stream.end()
  await stream.ended
  expect(() => streams.stop('1')).toThrow('No such stream is running.')
})
