module @jit_step {
  func.func public @main(%x: tensor<100x200xf32>, %w: tensor<200x300xbf16>) -> tensor<100x300xf32> {
    %0 = stablehlo.convert %w : (tensor<200x300xbf16>) -> tensor<200x300xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<100x200xf32>, tensor<200x300xf32>) -> tensor<100x300xf32>
    return %1 : tensor<100x300xf32>
  }
}
