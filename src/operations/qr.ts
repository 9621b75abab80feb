import { encode, renderSVG, renderUnicodeCompact } from 'uqr'

/** Made here, because the link gives access and no outside service may see it. */
export const qrOf = (link: string): { text: string; svg: string; modules: boolean[][] } => ({
  text: renderUnicodeCompact(link),
  svg: renderSVG(link),
  modules: encode(link).data,
})
