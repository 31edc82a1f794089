import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

describe('join_room', () => {
  it('makes the caller a member of the room', async () => {
    const steps = [{ join_room: { name: 'north' } }, { join_room: { name: '/private/%{vars.where}' } }]
    const { verbs } = await scripts.run([{ set: { where: 'board' } }, ...steps])
    expect(verbs).toEqual([
      ['joinRoom', { name: 'north' }],
      ['joinRoom', { name: '/private/board' }],
    ])
  })

  it('sets its variable when the caller has left the room', async () => {
    const room = { join_room: { name: 'north' } }
    expect(await scripts.say('%{join_room_result}', [room])).toBe('joined')
    const call = new FakeCall()
    call.failing.set('joinRoom', new VerbFailed('room_full', 'no'))
    expect(await scripts.say('%{join_room_result}', [{ set: { a: 1 } }, room], { call })).toBe('failed')
  })

  it('is the last step of a caller who hung up', async () => {
    const call = new FakeCall()
    call.during.set('joinRoom', () => call.end())
    expect((await scripts.run([{ join_room: { name: 'north' } }, { sleep: 1 }], { call })).names).toEqual([
      'joinRoom',
    ])
  })

  it('requires a name or an address, also from a variable', async () => {
    expect(faultsOf([{ join_room: { name: 'a/b' } }, { join_room: {} }, 'join_room'])).toEqual([
      '/0/join_room/name method_parameter_invalid_value',
      '/1/join_room method_parameter_missing',
      '/2 method_parameter_missing',
    ])
    const { names, warnings } = await scripts.run([
      { set: { where: 'two words' } },
      { join_room: { name: '%{where}' } },
    ])
    expect(names).toEqual([])
    expect(warnings).toEqual(['/sections/main/1/join_room method_parameter_invalid_value'])
  })
})
