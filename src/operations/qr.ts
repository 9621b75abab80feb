import { encode, renderSVG, renderUnicodeCompact } from 'uqr'

/** Made here: a link that lets someone in is shown to nobody who would draw it for us. */
export const qrOf = (link: string): { text: string; svg: string; modules: boolean[][] } => ({
  text: renderUnicodeCompact(link),
  svg: renderSVG(link),
  modules: encode(link).data,
})
