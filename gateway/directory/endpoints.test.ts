import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { config, phone, script, TestStore } from './testing/directories.ts'

const { open, query } = new TestStore()

describe('SIP endpoints', () => {
  it('are known by user name, id and address, with a secret for each realm and never the password', async () => {
    const directory = await open(
      config({ endpoints: [{ ...phone, callerId: '+4930', handler: script, maxCalls: 3 }] }),
    )
    const endpoint = directory.endpointByName('desk1')!
    expect(endpoint).toMatchObject({
      projectId: 'project-1',
      username: 'desk1',
      address: '/public/phone',
      displayName: 'phone',
      callerId: '+4930',
      mayDialOut: false,
      handler: script,
      maxCalls: 3,
      callsPerSecond: 2,
      codecs: ['PCMA', 'opus'],
    })
    expect(directory.endpoint(endpoint.id)).toEqual(endpoint)
    expect(directory.endpointByName('DESK1')).toBeUndefined()
    expect([...endpoint.secrets.keys()]).toEqual(['phones.example', 'sip.example'])
    const sha256 = createHash('sha256').update('desk1:sip.example:Tele-fon-1').digest('hex')
    expect(endpoint.secrets.get('sip.example')).toMatchObject({ username: 'desk1', sha256 })
    expect(directory.resolve('/public/phone', 'project-1')).toEqual({
      kind: 'endpoint',
      endpointId: endpoint.id,
      address: '/public/phone',
    })
    expect(directory.resources.findByAddress('project-1', 'public', 'phone')).toMatchObject({
      type: 'sip_endpoint',
    })
    expect(JSON.stringify(query('select * from endpoint'))).not.toContain(phone.password)
  })

  it('keep their id when the address moves, and go when the file has them no longer', async () => {
    const first = await open(config({ endpoints: [phone] }))
    const { id } = first.endpointByName('desk1')!
    first.close()
    const moved = await open(config({ endpoints: [{ ...phone, name: 'desk', password: 'Tele-fon-2' }] }))
    expect(moved.endpointByName('desk1')).toMatchObject({ id, address: '/public/desk', callerId: 'desk1' })
    expect(moved.endpointByName('desk1')?.secrets).not.toEqual(first.endpointByName('desk1')?.secrets)
    moved.close()
    const third = await open()
    expect(third.endpointByName('desk1')).toBeUndefined()
    expect(query('select count(*) as n from endpoint')).toEqual([{ n: 0 }])
  })

  it('have an address of their own, and a user name of their own', async () => {
    await expect(open(config({ endpoints: [{ ...phone, name: 'alice' }] }))).rejects.toThrow(
      'The address /public/alice is declared twice.',
    )
    await expect(open(config({ endpoints: [phone, { ...phone, name: 'other' }] }))).rejects.toThrow(
      'The endpoint desk1 is declared twice.',
    )
  })

  it('that the file gives to another project are new ones there', async () => {
    const projects = ['project-1', 'project-2'].map((id) => ({ id, name: id, signingKeys: [] }))
    const first = await open(config({ projects, endpoints: [phone] }))
    const { id } = first.endpointByName('desk1')!
    await first.close()
    const second = await open(config({ projects, endpoints: [{ ...phone, project: 'project-2' }] }))
    expect(second.endpointByName('desk1')).toMatchObject({ projectId: 'project-2', callerId: 'desk1' })
    expect(second.endpoint(id)).toBeUndefined()
    expect(second.resolve('/public/phone', 'project-1')).toBeUndefined()
    expect(second.resolve('/public/phone', 'project-2')).toMatchObject({ kind: 'endpoint' })
  })
})
