/** Returns a duration in seconds with one digit after the point. */
export const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
