import { describe, expect, it } from 'vitest'
import {
  defaultPermissions,
  grantedPermissions,
  isPermitted,
  mayGrant,
  roomPermissions,
} from './permissions.ts'

describe('permissions of a room', () => {
  it('are named once', () => {
    expect(new Set(roomPermissions).size).toBe(roomPermissions.length)
    expect(roomPermissions).toEqual(
      expect.arrayContaining(['room.self.screenshare', 'room.member.remove', 'room.set_layout']),
    )
  })

  it('are granted in the order of the list, without those that no room can grant', () => {
    const listed = ['room.unlock', 'room.recording', 'room.self.deaf', 'room.fly', 'room.lock', 'room.stream']
    expect(grantedPermissions(listed, false)).toEqual([
      'room.unlock',
      'room.recording',
      'room.self.deaf',
      'room.lock',
    ])
    expect(grantedPermissions(defaultPermissions, false)).toEqual(defaultPermissions)
    expect(defaultPermissions).toEqual(
      expect.arrayContaining(['room.self.screenshare', 'room.self.additional_source']),
    )
    expect(defaultPermissions.every((name) => name.startsWith('room.self.'))).toBe(true)
  })

  it('to play files and to stream are granted by a gateway with ffmpeg', () => {
    const listed = ['room.playback', 'room.lock', 'room.playback_seek', 'room.stream']
    expect(grantedPermissions(listed, true)).toEqual(listed)
    expect(grantedPermissions(listed, false)).toEqual(['room.lock'])
  })

  it('on the own member are granted by all, and others by those who have them', () => {
    const may = (...own: Parameters<typeof isPermitted> extends [unknown, ...infer Rest] ? Rest : never) =>
      isPermitted(['room.member.remove', 'room.lock'], ...own)
    const names = [
      'room.self.deaf',
      'room.member.remove',
      'room.lock',
      'room.member.deaf',
      'room.unlock',
      'fly',
    ]
    expect(names.filter((name) => mayGrant(may, name))).toEqual(names.slice(0, 3))
  })

  it('on the own member do not include others, and those on others include the own member', () => {
    expect(isPermitted(['room.self.deaf'], 'deaf', 'self')).toBe(true)
    expect(isPermitted(['room.self.deaf'], 'deaf', 'member')).toBe(false)
    expect(isPermitted(['room.member.deaf'], 'deaf', 'self')).toBe(true)
    expect(isPermitted(['room.member.set_meta', 'room.self.set_meta'], 'set_meta', 'room')).toBe(false)
    expect(isPermitted(['room.set_meta'], 'set_meta', 'room')).toBe(true)
    expect(isPermitted(['room.set_meta'], 'set_meta', 'member')).toBe(false)
  })
})
