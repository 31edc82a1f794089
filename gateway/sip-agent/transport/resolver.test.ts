import { expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { type Lookup, Resolver } from './resolver.ts'

const setUp = () => {
  const clock = new FakeClock()
  const asked: { host: string; done: Parameters<Lookup>[1] }[] = []
  const resolver = new Resolver(clock, (host, done) => asked.push({ host, done }))
  const answers: (string | undefined)[] = []
  return {
    clock,
    asked,
    answers,
    resolve: (host: string) => resolver.resolve(host, (each) => answers.push(each)),
  }
}

it('answers literals at once, without asking anybody', () => {
  const { resolve, answers, asked } = setUp()
  resolve('192.0.2.1')
  resolve('2001:db8::1')
  expect([answers, asked]).toEqual([['192.0.2.1', '2001:db8::1'], []])
})

it('asks once for all that wait, and remembers for 30 s', () => {
  const { resolve, answers, asked, clock } = setUp()
  resolve('h.example')
  resolve('h.example')
  expect(asked.length).toBe(1)
  asked[0]?.done(null, '192.0.2.7')
  resolve('h.example')
  expect(answers).toEqual(['192.0.2.7', '192.0.2.7', '192.0.2.7'])
  clock.advance(30_001)
  resolve('h.example')
  expect(asked.length).toBe(2)
})

it('says where a name has no address, and asks again the next time', () => {
  const { resolve, answers, asked } = setUp()
  resolve('h.example')
  asked[0]?.done(new Error('not found'), '')
  resolve('h.example')
  expect([answers, asked.length]).toEqual([[undefined], 2])
})
