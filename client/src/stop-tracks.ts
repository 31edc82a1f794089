/** Stops the tracks of a stream, which releases its devices. No effect without a stream. */
export const stopTracks = (stream: MediaStream | undefined): void => {
  for (const track of stream?.getTracks() ?? []) track.stop()
}
