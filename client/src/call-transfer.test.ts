import { describe, expect, it } from 'vitest'
import { settled } from './testing/fakes.ts'
import { answered, released, setUp } from './testing/situations.ts'

const talking = async () => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client)
  const progress: string[] = []
  call.on('transfer', ({ state }) => progress.push(state))
  const event = (state: string, status: number, id = call.id) =>
    browser.socket.event('call.transfer', { call_id: id, transfer_state: state, sip_status: status })
  const bye = (id = call.id) =>
    browser.socket.verto('verto.bye', { callID: id, cause: 'NORMAL_CLEARING', causeCode: 16 })
  return { browser, client, call, progress, event, bye }
}

describe('a blind transfer', () => {
  it('resolves when the target answers, and the call ends as transferred', async () => {
    const { browser, call, progress, event, bye } = await talking()
    const transfer = call.transfer(' /public/carol ')
    expect(browser.socket.requests('verto.modify')[0]?.message.params).toMatchObject({
      action: 'transfer',
      destination: '/public/carol',
    })
    browser.socket.reply('verto.modify')
    event('ringing', 180)
    event('completed', 200)
    await transfer
    bye()
    expect([call.state, call.reason?.code, progress]).toEqual([
      'ended',
      'transferred',
      ['ringing', 'completed'],
    ])
    released(browser)
  })

  it.each([
    [486, 'busy'],
    [603, 'declined'],
    [408, 'no_answer'],
    [480, 'not_online'],
    [404, 'unknown_address'],
    [503, 'failed'],
  ])('that ends with status %i rejects with %s, and the call continues', async (status, code) => {
    const { browser, call, event } = await talking()
    const transfer = call.transfer('/public/carol')
    browser.socket.reply('verto.modify')
    event('failed', status)
    await expect(transfer).rejects.toMatchObject({ code, serverCode: String(status) })
    expect(call.state).toBe('active')
    const again = call.transfer('/public/dave')
    browser.socket.reply('verto.modify')
    event('completed', 200)
    await again
  })

  it('that the gateway does not permit rejects with not_permitted', async () => {
    const { browser, call } = await talking()
    const transfer = call.transfer('+15551230001')
    browser.socket.reply('verto.modify', { code: '403', message: 'Not permitted.' })
    await expect(transfer).rejects.toMatchObject({ code: 'not_permitted' })
    expect(call.active).toBe(true)
  })

  it('rejects if the call ends meanwhile', async () => {
    const { browser, call, bye } = await talking()
    const transfer = call.transfer('/public/carol')
    browser.socket.reply('verto.modify')
    bye()
    await expect(transfer).rejects.toMatchObject({ code: 'normal' })
    expect(call.reason?.code).toBe('normal')
  })

  it('rejects wrong targets and a second transfer', async () => {
    const { call } = await talking()
    await expect(call.transfer(' ')).rejects.toMatchObject({ code: 'bad_argument' })
    await expect(call.transfer(call)).rejects.toMatchObject({ code: 'bad_argument' })
    void call.transfer('/public/carol').catch(() => {})
    await expect(call.transfer('/public/dave')).rejects.toMatchObject({ code: 'bad_state' })
  })
})

describe('an attended transfer', () => {
  it('names the other call, and ends both as transferred', async () => {
    const { browser, client, call, event, bye } = await talking()
    const other = await answered(browser, client)
    const transfer = call.transfer(other)
    expect(browser.socket.requests('verto.modify')[0]?.message.params).toMatchObject({
      action: 'replace',
      replaceCallID: other.id,
    })
    for (const { id } of [call, other]) event('completed', 200, id)
    for (const { id } of [call, other]) bye(id)
    browser.socket.reply('verto.modify')
    await transfer
    expect([call.reason?.code, other.reason?.code]).toEqual(['transferred', 'transferred'])
  })

  it('needs two answered calls', async () => {
    const { client, call } = await talking()
    const other = await client.dial({ to: '/public/carol' })
    await expect(call.transfer(other)).rejects.toMatchObject({ code: 'bad_state' })
    await expect(other.transfer(call)).rejects.toMatchObject({ code: 'bad_state' })
    await settled()
    expect(call.active).toBe(true)
  })
})

describe('the addition of a person', () => {
  it('resolves when the person answers, and the call continues', async () => {
    const { browser, call, bye } = await talking()
    const progress: string[] = []
    call.on('addition', ({ state }) => progress.push(state))
    const event = (state: string, status: number) =>
      browser.socket.event('call.add', { call_id: call.id, add_state: state, sip_status: status })
    const first = call.add(' /public/carol ')
    expect(browser.socket.requests('verto.modify')[0]?.message.params).toMatchObject({
      action: 'add',
      destination: '/public/carol',
    })
    browser.socket.reply('verto.modify')
    event('ringing', 180)
    event('failed', 603)
    await expect(first).rejects.toMatchObject({ code: 'declined' })
    const second = call.add('/public/dave')
    await expect(call.add('/public/erin')).rejects.toMatchObject({ code: 'bad_state' })
    browser.socket.reply('verto.modify')
    event('completed', 200)
    await second
    expect([call.active, progress]).toEqual([true, ['ringing', 'failed', 'completed']])
    bye()
    expect(call.reason?.code).toBe('normal')
    await expect(call.add('/public/dave')).rejects.toMatchObject({ code: 'bad_state' })
  })
})
