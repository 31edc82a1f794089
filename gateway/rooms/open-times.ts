/** Times at which a room or a token admits a member, in ms since the epoch; absent ones do not limit. */
export interface OpenTimes {
  readonly joinFrom?: number
  readonly joinUntil?: number
  readonly removeAt?: number
}

/** Whether a member may join at a time. */
export const isOpenAt = ({ joinFrom, joinUntil, removeAt }: OpenTimes, now: number): boolean =>
  now >= (joinFrom ?? now) && now <= (joinUntil ?? now) && now < (removeAt ?? Number.POSITIVE_INFINITY)
