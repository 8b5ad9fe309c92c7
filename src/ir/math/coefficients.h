/* Constants of the elementary functions. Written by tools/minimax.py; do not edit. */
#ifndef SINTER_IR_MATH_COEFFICIENTS_H
#define SINTER_IR_MATH_COEFFICIENTS_H

#define LOG2E_F32 0x1.715476p+0f

#define LOG2E_F64 0x1.71547652b82fep+0

#define LN2_F32 0x1.62e43p-1f
#define LN2_F32_1 0x1.62e4p-1f
#define LN2_F32_2 0x1.7f7d1cp-20f

#define LN2_F64 0x1.62e42fefa39efp-1
#define LN2_F64_1 0x1.62e42fefa3p-1
#define LN2_F64_2 0x1.3de6af278ece6p-42

/* EXP_F32: largest error 2^-28.25 */
#define EXP_F32_2 0x1.fffffcp-2f
#define EXP_F32_3 0x1.555492p-3f
#define EXP_F32_4 0x1.5558aep-5f
#define EXP_F32_5 0x1.12398cp-7f
#define EXP_F32_6 0x1.6a4fb8p-10f
#define P_EXP_F32(x) FMA(FMA(FMA(FMA(CF32(EXP_F32_6), x, CF32(EXP_F32_5)), x, CF32(EXP_F32_4)), x, CF32(EXP_F32_3)), \
    x, CF32(EXP_F32_2))

/* EXP_F64: largest error 2^-57.89 */
#define EXP_F64_2 0x1.0000000000009p-1
#define EXP_F64_3 0x1.55555555554fap-3
#define EXP_F64_4 0x1.5555555550acap-5
#define EXP_F64_5 0x1.1111111127d38p-7
#define EXP_F64_6 0x1.6c16c183c6d98p-10
#define EXP_F64_7 0x1.a01a01296797ap-13
#define EXP_F64_8 0x1.a0199ae72f2c3p-16
#define EXP_F64_9 0x1.71df2826d5396p-19
#define EXP_F64_10 0x1.28acc8cfff41cp-22
#define EXP_F64_11 0x1.ad7a2ae1ac14bp-26
#define P_EXP_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(EXP_F64_11), x, CF64(EXP_F64_10)), x, CF64(EXP_F64_9)), \
    x, CF64(EXP_F64_8)), x, CF64(EXP_F64_7)), x, CF64(EXP_F64_6)), x, CF64(EXP_F64_5)), x, CF64(EXP_F64_4)), x, \
    CF64(EXP_F64_3)), x, CF64(EXP_F64_2))

/* EXP2_F32: largest error 2^-27.54 */
#define EXP2_F32_1 0x1.62e432p-1f
#define EXP2_F32_2 0x1.ebfbe6p-3f
#define EXP2_F32_3 0x1.c6ad6cp-5f
#define EXP2_F32_4 0x1.3b2444p-7f
#define EXP2_F32_5 0x1.5fe28ep-10f
#define EXP2_F32_6 0x1.48eb6ap-13f
#define P_EXP2_F32(x) FMA(FMA(FMA(FMA(FMA(CF32(EXP2_F32_6), x, CF32(EXP2_F32_5)), x, CF32(EXP2_F32_4)), x, \
    CF32(EXP2_F32_3)), x, CF32(EXP2_F32_2)), x, CF32(EXP2_F32_1))

/* EXP2_F64: largest error 2^-58.03 */
#define EXP2_F64_1_HI 0x1.62e42fefa39efp-1
#define EXP2_F64_1_LO 0x1.6ce405ac5fd2dp-55
#define EXP2_F64_2 0x1.ebfbdff82c5a4p-3
#define EXP2_F64_3 0x1.c6b08d7049fe8p-5
#define EXP2_F64_4 0x1.3b2ab6fba01a8p-7
#define EXP2_F64_5 0x1.5d87fe78cd6c6p-10
#define EXP2_F64_6 0x1.4309130ec17abp-13
#define EXP2_F64_7 0x1.ffcbfba96fbep-17
#define EXP2_F64_8 0x1.62bfc7cf94dfdp-20
#define EXP2_F64_9 0x1.b5267d1c51bb4p-24
#define EXP2_F64_10 0x1.e61b02ddc12b2p-28
#define EXP2_F64_11 0x1.e79b43f0ea13bp-32
#define P_EXP2_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(EXP2_F64_11), x, CF64(EXP2_F64_10)), x, \
    CF64(EXP2_F64_9)), x, CF64(EXP2_F64_8)), x, CF64(EXP2_F64_7)), x, CF64(EXP2_F64_6)), x, CF64(EXP2_F64_5)), x, \
    CF64(EXP2_F64_4)), x, CF64(EXP2_F64_3)), x, CF64(EXP2_F64_2))

#define POWER_F32_TABLE 0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f, \
    0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f, 0x1.ae89fap+0f, \
    0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f
#define POWER_F32_LOW_TABLE 0x0p+0f, 0x1.8d96d4p-25f, -0x1.9c0c22p-27f, 0x1.964904p-25f, 0x1.125002p-25f, \
    0x1.370be4p-25f, -0x1.0a355p-25f, -0x1.00d8acp-27f, 0x1.26055cp-26f, -0x1.05cb44p-25f, 0x1.67a1cap-28f, \
    0x1.a3b5e4p-28f, -0x1.f9c304p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f

#define POWER_F64_TABLE 0x1p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0, \
    0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0
#define POWER_F64_LOW_TABLE 0x0p+0, -0x1.01b15eaa59348p-55, 0x1.34d754db0abb6p-55, 0x1.690cebb7aafbp-56, \
    -0x1.3b3efbf5e2228p-54, 0x1.db72fc1f0eab4p-55, 0x1.c1a7792cb3387p-55, 0x1.4a385a63d07a7p-56

/* NEAR_EXP_F32: largest error 2^-28.69 */
#define NEAR_EXP_F32_2 0x1.000292p-1f
#define NEAR_EXP_F32_3 0x1.555b82p-3f
#define P_NEAR_EXP_F32(x) FMA(CF32(NEAR_EXP_F32_3), x, CF32(NEAR_EXP_F32_2))

/* NEAR_EXP_F64: largest error 2^-58.25 */
#define NEAR_EXP_F64_2 0x1.0000000000116p-1
#define NEAR_EXP_F64_3 0x1.5555555555853p-3
#define NEAR_EXP_F64_4 0x1.55555547c7db8p-5
#define NEAR_EXP_F64_5 0x1.111110fbabd7p-7
#define NEAR_EXP_F64_6 0x1.6c1cc9ed65c08p-10
#define NEAR_EXP_F64_7 0x1.a0247033cc85ep-13
#define P_NEAR_EXP_F64(x) FMA(FMA(FMA(FMA(FMA(CF64(NEAR_EXP_F64_7), x, CF64(NEAR_EXP_F64_6)), x, \
    CF64(NEAR_EXP_F64_5)), x, CF64(NEAR_EXP_F64_4)), x, CF64(NEAR_EXP_F64_3)), x, CF64(NEAR_EXP_F64_2))

#define LOGS_F32_RECIPROCAL_TABLE 0x1p+0f, 0x1.d71632p-1f, 0x1.b9b7f4p-1f, 0x1.a49908p-1f, 0x1.8f8434p-1f, \
    0x1.7deacp-1f, 0x1.6bf76cp-1f, 0x1.5bc826p-1f, 0x1.4ee3bap+0f, 0x1.41f962p+0f, 0x1.35c0cp+0f, 0x1.292e36p+0f, \
    0x1.1f36dep+0f, 0x1.1578e6p+0f, 0x1.0c4b3cp+0f, 0x1p+0f
#define LOGS_F32_TABLE 0x0p+0f, 0x1.552p-4f, 0x1.2e64p-3f, 0x1.92bcp-3f, 0x1.fc0cp-3f, 0x1.2c28p-2f, 0x1.5d74p-2f, \
    0x1.8c08p-2f, -0x1.1312p-2f, -0x1.d598p-3f, -0x1.8658p-3f, -0x1.317cp-3f, -0x1.d74p-4f, -0x1.49e8p-4f, \
    -0x1.804p-5f, 0x0p+0f

#define LOGS_F64_RECIPROCAL_TABLE 0x1p+0, 0x1.d412c4642459dp-1, 0x1.bac702b4c7f93p-1, 0x1.a416c8bafd924p-1, \
    0x1.8f9406c99f0e9p-1, 0x1.7d062183c4216p-1, 0x1.6c0fe9181abf5p-1, 0x1.5c9a08506242fp-1, 0x1.4e5d11539972fp+0, \
    0x1.4140352e08f69p+0, 0x1.35263cea0a3ddp+0, 0x1.29e0a3baa5128p+0, 0x1.1f6b7657fd057p+0, 0x1.15b366cd9bbedp+0, \
    0x1.0c91402ebb1dfp+0, 0x1p+0
#define LOGS_F64_TABLE 0x0p+0, 0x1.6f68f34964p-4, 0x1.297cc35fc8p-3, 0x1.953697519ap-3, 0x1.fbbae47786p-3, \
    0x1.2e8db19bfap-2, 0x1.5d2f1c900ap-2, 0x1.899ec00273p-2, -0x1.1175ed3168p-2, -0x1.d0fcd22906p-3, \
    -0x1.825969addep-3, -0x1.36483081b6p-3, -0x1.da2dcc0ac4p-4, -0x1.4d47421b64p-4, -0x1.8898c4edp-5, 0x0p+0

#define NEAR_LOG_F32_0 -0x1.000004p-1f
#define NEAR_LOG_F32_1 0x1.555824p-2f
#define NEAR_LOG_F32_2 -0x1.00134cp-2f
#define NEAR_LOG_F32_3 0x1.825f38p-3f
#define P_NEAR_LOG_F32(x) FMA(FMA(FMA(CF32(NEAR_LOG_F32_3), x, CF32(NEAR_LOG_F32_2)), x, CF32(NEAR_LOG_F32_1)), x, \
    CF32(NEAR_LOG_F32_0))

/* NEAR_LOG_F64: largest error 2^-56.61 */
#define NEAR_LOG_F64_0 -0x1.0000000000002p-1
#define NEAR_LOG_F64_1 0x1.5555555555f34p-2
#define NEAR_LOG_F64_2 -0x1.fffffffff38e5p-3
#define NEAR_LOG_F64_3 0x1.99999980e8bfbp-3
#define NEAR_LOG_F64_4 -0x1.555554ae3803dp-3
#define NEAR_LOG_F64_5 0x1.2492d7067ef82p-3
#define NEAR_LOG_F64_6 -0x1.0009bba9e3b55p-3
#define NEAR_LOG_F64_7 0x1.c578f34aaab28p-4
#define NEAR_LOG_F64_8 -0x1.661b9e909fca1p-4
#define P_NEAR_LOG_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(NEAR_LOG_F64_8), x, CF64(NEAR_LOG_F64_7)), x, \
    CF64(NEAR_LOG_F64_6)), x, CF64(NEAR_LOG_F64_5)), x, CF64(NEAR_LOG_F64_4)), x, CF64(NEAR_LOG_F64_3)), x, \
    CF64(NEAR_LOG_F64_2)), x, CF64(NEAR_LOG_F64_1)), x, CF64(NEAR_LOG_F64_0))

/* LOG_F32: largest error 2^-27.68 */
#define LOG_F32_1 0x1.555506p-2f
#define LOG_F32_2 -0x1.fffefcp-3f
#define LOG_F32_3 0x1.99d046p-3f
#define LOG_F32_4 -0x1.559c3cp-3f
#define LOG_F32_5 0x1.1ed636p-3f
#define LOG_F32_6 -0x1.f33434p-4f
#define LOG_F32_7 0x1.1e688p-3f
#define LOG_F32_8 -0x1.07c594p-3f
#define P_LOG_F32(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF32(LOG_F32_8), x, CF32(LOG_F32_7)), x, CF32(LOG_F32_6)), x, \
    CF32(LOG_F32_5)), x, CF32(LOG_F32_4)), x, CF32(LOG_F32_3)), x, CF32(LOG_F32_2)), x, CF32(LOG_F32_1))

/* LOG_F64: largest error 2^-59.31 */
#define LOG_F64_0 0x1.555555555557dp-2
#define LOG_F64_1 0x1.999999998520ep-3
#define LOG_F64_2 0x1.2492493e2acdap-3
#define LOG_F64_3 0x1.c71c54a43ffap-4
#define LOG_F64_4 0x1.7465c729ec583p-4
#define LOG_F64_5 0x1.39ac82853203ep-4
#define LOG_F64_6 0x1.2ea2efacfa686p-4
#define P_LOG_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(CF64(LOG_F64_6), x, CF64(LOG_F64_5)), x, CF64(LOG_F64_4)), x, \
    CF64(LOG_F64_3)), x, CF64(LOG_F64_2)), x, CF64(LOG_F64_1)), x, CF64(LOG_F64_0))

#define LOG2_10_F32 0x1.a934fp+1f

#define LOG10_2_F32_1 0x1.344p-2f
#define LOG10_2_F32_2 0x1.3509f8p-18f

#define LOG2_10_F64 0x1.a934f0979a371p+1

#define LOG10_2_F64_1 0x1.34413509f7p-2
#define LOG10_2_F64_2 0x1.3fde623e2566bp-43

#define LOG2E_F64_1 0x1.71547652b82fep+0
#define LOG2E_F64_2 0x1.777d0ffda0d24p-56

#define LOG10E_F64_1 0x1.bcb7b1526e50ep-2
#define LOG10E_F64_2 0x1.95355baaafad3p-57

/* EXP10_F64: largest error 2^-57.97 */
#define EXP10_F64_1_HI 0x1.26bb1bbb55516p+1
#define EXP10_F64_1_LO -0x1.764ad114cdb26p-53
#define EXP10_F64_2 0x1.53524c73cea78p+1
#define EXP10_F64_3 0x1.0470591de2c2ap+1
#define EXP10_F64_4 0x1.2bd7609fd4cfbp+0
#define EXP10_F64_5 0x1.1429ffd1f2cb7p-1
#define EXP10_F64_6 0x1.a7ed70a291b73p-3
#define EXP10_F64_7 0x1.16e4df6847f5p-4
#define EXP10_F64_8 0x1.41165d22a75ep-6
#define EXP10_F64_9 0x1.4898a352f3ec4p-8
#define EXP10_F64_10 0x1.2f75f7ef36508p-10
#define EXP10_F64_11 0x1.f9c2518868b0dp-13
#define P_EXP10_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(EXP10_F64_11), x, CF64(EXP10_F64_10)), x, \
    CF64(EXP10_F64_9)), x, CF64(EXP10_F64_8)), x, CF64(EXP10_F64_7)), x, CF64(EXP10_F64_6)), x, CF64(EXP10_F64_5)), \
    x, CF64(EXP10_F64_4)), x, CF64(EXP10_F64_3)), x, CF64(EXP10_F64_2))

/* EXP10_F32: largest error 2^-28.51 */
#define EXP10_F32_1 0x1.26bb1cp+1f
#define EXP10_F32_2 0x1.53524ap+1f
#define EXP10_F32_3 0x1.046f9cp+1f
#define EXP10_F32_4 0x1.2bdap+0f
#define EXP10_F32_5 0x1.156a38p-1f
#define EXP10_F32_6 0x1.a63a52p-3f
#define P_EXP10_F32(x) FMA(FMA(FMA(FMA(FMA(CF32(EXP10_F32_6), x, CF32(EXP10_F32_5)), x, CF32(EXP10_F32_4)), x, \
    CF32(EXP10_F32_3)), x, CF32(EXP10_F32_2)), x, CF32(EXP10_F32_1))

/* LOG2_F32: largest error 2^-27.28 */
#define LOG2_F32_0_HI 0x1.715476p+0f
#define LOG2_F32_0_LO 0x1.ac90c4p-26f
#define LOG2_F32_1 -0x1.715478p-1f
#define LOG2_F32_2 0x1.ec6ffep-2f
#define LOG2_F32_3 -0x1.7152cep-2f
#define LOG2_F32_4 0x1.27a3fcp-2f
#define LOG2_F32_5 -0x1.ed0222p-3f
#define LOG2_F32_6 0x1.9d457ap-3f
#define LOG2_F32_7 -0x1.667bap-3f
#define LOG2_F32_8 0x1.9f68p-3f
#define LOG2_F32_9 -0x1.82040cp-3f
#define P_LOG2_F32(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF32(LOG2_F32_9), x, CF32(LOG2_F32_8)), x, CF32(LOG2_F32_7)), \
    x, CF32(LOG2_F32_6)), x, CF32(LOG2_F32_5)), x, CF32(LOG2_F32_4)), x, CF32(LOG2_F32_3)), x, CF32(LOG2_F32_2)), x, \
    CF32(LOG2_F32_1))

/* LOG10_F32: largest error 2^-29.06 */
#define LOG10_F32_0_HI 0x1.bcb7b2p-2f
#define LOG10_F32_0_LO -0x1.20530ap-27f
#define LOG10_F32_1 -0x1.bcb7b2p-3f
#define LOG10_F32_2 0x1.287a12p-3f
#define LOG10_F32_3 -0x1.bcb65ap-4f
#define LOG10_F32_4 0x1.63fe0ap-4f
#define LOG10_F32_5 -0x1.28c434p-4f
#define LOG10_F32_6 0x1.f1794ep-5f
#define LOG10_F32_7 -0x1.b09bacp-5f
#define LOG10_F32_8 0x1.f4dbcep-5f
#define LOG10_F32_9 -0x1.cdd3dap-5f
#define P_LOG10_F32(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF32(LOG10_F32_9), x, CF32(LOG10_F32_8)), x, \
    CF32(LOG10_F32_7)), x, CF32(LOG10_F32_6)), x, CF32(LOG10_F32_5)), x, CF32(LOG10_F32_4)), x, CF32(LOG10_F32_3)), \
    x, CF32(LOG10_F32_2)), x, CF32(LOG10_F32_1))

#define TWO_OVER_PI_F32 0x1.45f306p-1f

#define TWO_OVER_PI_F64 0x1.45f306dc9c883p-1

#define HALF_PI_F32_1 0x1.921fb4p+0f
#define HALF_PI_F32_2 0x1.4442dp-24f
#define HALF_PI_F32_3 0x1.84698ap-48f

#define HALF_PI_F64_1 0x1.921fb54442d18p+0
#define HALF_PI_F64_2 0x1.1a62633145c06p-54
#define HALF_PI_F64_3 0x1.c1cd129024e09p-107

/* SIN_F32: largest error 2^-27.90 */
#define SIN_F32_0 -0x1.555546p-3f
#define SIN_F32_1 0x1.110776p-7f
#define SIN_F32_2 -0x1.9952f6p-13f
#define P_SIN_F32(x) FMA(FMA(CF32(SIN_F32_2), x, CF32(SIN_F32_1)), x, CF32(SIN_F32_0))

/* COS_F32: largest error 2^-32.98 */
#define COS_F32_0 0x1.55554ap-5f
#define COS_F32_1 -0x1.6c0c28p-10f
#define COS_F32_2 0x1.99e80ep-16f
#define P_COS_F32(x) FMA(FMA(CF32(COS_F32_2), x, CF32(COS_F32_1)), x, CF32(COS_F32_0))

/* SIN_F64: largest error 2^-57.77 */
#define SIN_F64_0 -0x1.555555555554cp-3
#define SIN_F64_1 0x1.111111110fbd2p-7
#define SIN_F64_2 -0x1.a01a019c626bep-13
#define SIN_F64_3 0x1.71de35afd17f3p-19
#define SIN_F64_4 -0x1.ae5e8abfc84d2p-26
#define SIN_F64_5 0x1.5d9c0b26e6571p-33
#define P_SIN_F64(x) FMA(FMA(FMA(FMA(FMA(CF64(SIN_F64_5), x, CF64(SIN_F64_4)), x, CF64(SIN_F64_3)), x, \
    CF64(SIN_F64_2)), x, CF64(SIN_F64_1)), x, CF64(SIN_F64_0))

/* COS_F64: largest error 2^-63.92 */
#define COS_F64_0 0x1.555555555554bp-5
#define COS_F64_1 -0x1.6c16c16c1500dp-10
#define COS_F64_2 0x1.a01a019c8dd1cp-16
#define COS_F64_3 -0x1.27e4f7f050428p-22
#define COS_F64_4 0x1.1ee9dacbdb682p-29
#define COS_F64_5 -0x1.8fa5ecce01e72p-37
#define P_COS_F64(x) FMA(FMA(FMA(FMA(FMA(CF64(COS_F64_5), x, CF64(COS_F64_4)), x, CF64(COS_F64_3)), x, \
    CF64(COS_F64_2)), x, CF64(COS_F64_1)), x, CF64(COS_F64_0))

/* PAYNE_F32: 8 zero bits, then the bits of 2/pi behind the point; 64 of them from bit 32 i on */
#define PAYNE_F32_0 0x00a2f9836e4e4415u
#define PAYNE_F32_1 0x6e4e441529fc2757u
#define PAYNE_F32_2 0x29fc2757d1f534ddu
#define PAYNE_F32_3 0xd1f534ddc0db6295u
#define PAYNE_F32_4 0xc0db6295993c4390u
#define PAYNE_F32_5 0x993c439041fe5163u

/* PAYNE_F64: 24 zero bits, then the bits of 2/pi behind the point; 64 of them from bit 64 i on */
#define PAYNE_F64_0 0x000000a2f9836e4eu
#define PAYNE_F64_1 0x441529fc2757d1f5u
#define PAYNE_F64_2 0x34ddc0db6295993cu
#define PAYNE_F64_3 0x439041fe5163abdeu
#define PAYNE_F64_4 0xbbc561b7246e3a42u
#define PAYNE_F64_5 0x4dd2e006492eea09u
#define PAYNE_F64_6 0xd1921cfe1deb1cb1u
#define PAYNE_F64_7 0x29a73ee88235f52eu
#define PAYNE_F64_8 0xbb4484e99c7026b4u
#define PAYNE_F64_9 0x5f7e413991d63983u
#define PAYNE_F64_10 0x5339f49c845f8bbdu
#define PAYNE_F64_11 0xf9283b1ff897ffdeu
#define PAYNE_F64_12 0x05980fef2f118b5au
#define PAYNE_F64_13 0x0a6d1f6d367ecf27u
#define PAYNE_F64_14 0xcb09b74f463f669eu
#define PAYNE_F64_15 0x5fea2d7527bac7ebu
#define PAYNE_F64_16 0xe5f17b3d0739f78au
#define PAYNE_F64_17 0x5292ea6bfb5fb11fu
#define PAYNE_F64_18 0x8d5d0856033046fcu

#define HALF_PI_PAYNE_1 0x1.921fb54442d18p-62
#define HALF_PI_PAYNE_2 0x1.1a62633145c07p-116

/* ATAN_F32: largest error 2^-28.46 */
#define ATAN_F32_0 -0x1.55553ep-2f
#define ATAN_F32_1 0x1.9991e4p-3f
#define ATAN_F32_2 -0x1.242084p-3f
#define ATAN_F32_3 0x1.c08c18p-4f
#define ATAN_F32_4 -0x1.580806p-4f
#define ATAN_F32_5 0x1.da247ap-5f
#define ATAN_F32_6 -0x1.fd6edp-6f
#define ATAN_F32_7 0x1.640f8p-7f
#define ATAN_F32_8 -0x1.d32a4cp-10f
#define P_ATAN_F32(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF32(ATAN_F32_8), x, CF32(ATAN_F32_7)), x, CF32(ATAN_F32_6)), \
    x, CF32(ATAN_F32_5)), x, CF32(ATAN_F32_4)), x, CF32(ATAN_F32_3)), x, CF32(ATAN_F32_2)), x, CF32(ATAN_F32_1)), x, \
    CF32(ATAN_F32_0))

/* ATAN_F64: largest error 2^-57.26 */
#define ATAN_F64_0 -0x1.555555555554dp-2
#define ATAN_F64_1 0x1.9999999998c65p-3
#define ATAN_F64_2 -0x1.249249246d3abp-3
#define ATAN_F64_3 0x1.c71c71c1d41d7p-4
#define ATAN_F64_4 -0x1.745d171bb717bp-4
#define ATAN_F64_5 0x1.3b13b0f4f24e8p-4
#define ATAN_F64_6 -0x1.111113a27879fp-4
#define ATAN_F64_7 0x1.e1e1a2d96885dp-5
#define ATAN_F64_8 -0x1.af21b5664455ap-5
#define ATAN_F64_9 0x1.85d8e0f52e5f7p-5
#define ATAN_F64_10 -0x1.62bbe8b25f376p-5
#define ATAN_F64_11 0x1.41c97733f550ep-5
#define ATAN_F64_12 -0x1.1d4dffc7b624ap-5
#define ATAN_F64_13 0x1.de5df426f9762p-6
#define ATAN_F64_14 -0x1.6aeaf252343acp-6
#define ATAN_F64_15 0x1.da7526d13be36p-7
#define ATAN_F64_16 -0x1.fb974d28629abp-8
#define ATAN_F64_17 0x1.a3973f527f579p-9
#define ATAN_F64_18 -0x1.f136ef4001895p-11
#define ATAN_F64_19 0x1.751a2f0e459b1p-13
#define ATAN_F64_20 -0x1.091ad09108218p-16
#define P_ATAN_F64(x) \
    FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(ATAN_F64_20), x, \
    CF64(ATAN_F64_19)), x, CF64(ATAN_F64_18)), x, CF64(ATAN_F64_17)), x, CF64(ATAN_F64_16)), x, CF64(ATAN_F64_15)), \
    x, CF64(ATAN_F64_14)), x, CF64(ATAN_F64_13)), x, CF64(ATAN_F64_12)), x, CF64(ATAN_F64_11)), x, \
    CF64(ATAN_F64_10)), x, CF64(ATAN_F64_9)), x, CF64(ATAN_F64_8)), x, CF64(ATAN_F64_7)), x, CF64(ATAN_F64_6)), x, \
    CF64(ATAN_F64_5)), x, CF64(ATAN_F64_4)), x, CF64(ATAN_F64_3)), x, CF64(ATAN_F64_2)), x, CF64(ATAN_F64_1)), x, \
    CF64(ATAN_F64_0))

/* ASIN_F32: largest error 2^-27.61 */
#define ASIN_F32_0 0x1.5555c8p-3f
#define ASIN_F32_1 0x1.3301fcp-4f
#define ASIN_F32_2 0x1.747d04p-5f
#define ASIN_F32_3 0x1.8c2dacp-6f
#define ASIN_F32_4 0x1.596d3p-5f
#define P_ASIN_F32(x) FMA(FMA(FMA(FMA(CF32(ASIN_F32_4), x, CF32(ASIN_F32_3)), x, CF32(ASIN_F32_2)), x, \
    CF32(ASIN_F32_1)), x, CF32(ASIN_F32_0))

/* ASIN_F64: largest error 2^-59.67 */
#define ASIN_F64_0 0x1.5555555555562p-3
#define ASIN_F64_1 0x1.333333333028bp-4
#define ASIN_F64_2 0x1.6db6db70cfc1bp-5
#define ASIN_F64_3 0x1.f1c71afbd2beep-6
#define ASIN_F64_4 0x1.6e8bd4f379616p-6
#define ASIN_F64_5 0x1.1c4a8fe94b35p-6
#define ASIN_F64_6 0x1.ca11f9dada6c3p-7
#define ASIN_F64_7 0x1.75eba443001fp-7
#define ASIN_F64_8 0x1.5f29ac187301ap-7
#define ASIN_F64_9 0x1.019eecf0f3bc3p-8
#define ASIN_F64_10 0x1.5b3c79539d159p-6
#define ASIN_F64_11 -0x1.4cc97f1c5d937p-6
#define ASIN_F64_12 0x1.07f34f2032bbep-5
#define P_ASIN_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(ASIN_F64_12), x, CF64(ASIN_F64_11)), x, \
    CF64(ASIN_F64_10)), x, CF64(ASIN_F64_9)), x, CF64(ASIN_F64_8)), x, CF64(ASIN_F64_7)), x, CF64(ASIN_F64_6)), x, \
    CF64(ASIN_F64_5)), x, CF64(ASIN_F64_4)), x, CF64(ASIN_F64_3)), x, CF64(ASIN_F64_2)), x, CF64(ASIN_F64_1)), x, \
    CF64(ASIN_F64_0))

/* SINH_F32: largest error 2^-31.09 */
#define SINH_F32_0 0x1.555556p-3f
#define SINH_F32_1 0x1.1110d8p-7f
#define SINH_F32_2 0x1.a027d8p-13f
#define SINH_F32_3 0x1.74a272p-19f
#define P_SINH_F32(x) FMA(FMA(FMA(CF32(SINH_F32_3), x, CF32(SINH_F32_2)), x, CF32(SINH_F32_1)), x, CF32(SINH_F32_0))

/* SINH_F64: largest error 2^-62.92 */
#define SINH_F64_0 0x1.5555555555555p-3
#define SINH_F64_1 0x1.1111111111199p-7
#define SINH_F64_2 0x1.a01a01a007b2cp-13
#define SINH_F64_3 0x1.71de3a6820f46p-19
#define SINH_F64_4 0x1.ae64420d91c11p-26
#define SINH_F64_5 0x1.6130aa10b00fp-33
#define SINH_F64_6 0x1.a6d6c5df74398p-41
#define SINH_F64_7 0x1.c3056138970a1p-48
#define P_SINH_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(SINH_F64_7), x, CF64(SINH_F64_6)), x, CF64(SINH_F64_5)), x, \
    CF64(SINH_F64_4)), x, CF64(SINH_F64_3)), x, CF64(SINH_F64_2)), x, CF64(SINH_F64_1)), x, CF64(SINH_F64_0))

/* TANH_F32: largest error 2^-27.73 */
#define TANH_F32_0 -0x1.55553ap-2f
#define TANH_F32_1 0x1.110852p-3f
#define TANH_F32_2 -0x1.b85cdp-5f
#define TANH_F32_3 0x1.52de7p-6f
#define TANH_F32_4 -0x1.78bdeap-8f
#define P_TANH_F32(x) FMA(FMA(FMA(FMA(CF32(TANH_F32_4), x, CF32(TANH_F32_3)), x, CF32(TANH_F32_2)), x, \
    CF32(TANH_F32_1)), x, CF32(TANH_F32_0))

/* TANH_F64: largest error 2^-57.44 */
#define TANH_F64_P0 -0x1.5555555555555p-2
#define TANH_F64_P1 -0x1.4fda2fb21d0e2p-6
#define TANH_F64_P2 -0x1.a1b4d5758c5eap-13
#define TANH_F64_Q0 0x1p+0
#define TANH_F64_Q1 0x1.d892828aff085p-2
#define TANH_F64_Q2 0x1.7d9ae950e982cp-6
#define TANH_F64_Q3 0x1.b121e32a74077p-13
#define P_TANH_F64_P(x) FMA(FMA(CF64(TANH_F64_P2), x, CF64(TANH_F64_P1)), x, CF64(TANH_F64_P0))
#define P_TANH_F64_Q(x) FMA(FMA(FMA(CF64(TANH_F64_Q3), x, CF64(TANH_F64_Q2)), x, CF64(TANH_F64_Q1)), x, \
    CF64(TANH_F64_Q0))

/* CBRT_F32: largest error 2^-14.69 */
#define CBRT_F32_0 0x1.ab858ap+0f
#define CBRT_F32_1 -0x1.2c41d2p+0f
#define CBRT_F32_2 0x1.641632p-1f
#define CBRT_F32_3 -0x1.c51824p-3f
#define CBRT_F32_4 0x1.d46f0ep-6f
#define P_CBRT_F32(x) FMA(FMA(FMA(FMA(CF32(CBRT_F32_4), x, CF32(CBRT_F32_3)), x, CF32(CBRT_F32_2)), x, \
    CF32(CBRT_F32_1)), x, CF32(CBRT_F32_0))

/* CBRT_F64: largest error 2^-20.09 */
#define CBRT_F64_0 0x1.e139a08d39916p+0
#define CBRT_F64_1 -0x1.fc42b925c2a12p+0
#define CBRT_F64_2 0x1.fa1d21f3dc097p+0
#define CBRT_F64_3 -0x1.45fbd76055d66p+0
#define CBRT_F64_4 0x1.0105853c09ccep-1
#define CBRT_F64_5 -0x1.c43d5fc23f9c1p-4
#define CBRT_F64_6 0x1.5469373f8f568p-7
#define P_CBRT_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(CF64(CBRT_F64_6), x, CF64(CBRT_F64_5)), x, CF64(CBRT_F64_4)), x, \
    CF64(CBRT_F64_3)), x, CF64(CBRT_F64_2)), x, CF64(CBRT_F64_1)), x, CF64(CBRT_F64_0))

#define CBRT_2_F32 0x1.428a3p+0f
#define CBRT_HALF_F32 0x1.965feap-1f
#define CBRT_2_F64 0x1.428a2f98d728bp+0
#define CBRT_HALF_F64 0x1.965fea53d6e3dp-1

/* POW_LOG2_F32: largest error 2^-37.98 */
#define POW_LOG2_F32_0 0x1.71547652bc279p+0
#define POW_LOG2_F32_1 -0x1.71547652ee0b3p-1
#define POW_LOG2_F32_2 0x1.ec709d8d65837p-2
#define POW_LOG2_F32_3 -0x1.715475c3e1d8fp-2
#define POW_LOG2_F32_4 0x1.2776e33d398f1p-2
#define POW_LOG2_F32_5 -0x1.ec710a5511252p-3
#define POW_LOG2_F32_6 0x1.a60ad64a2b811p-3
#define POW_LOG2_F32_7 -0x1.71426a8fbc74bp-3
#define POW_LOG2_F32_8 0x1.4986e63d80ac3p-3
#define POW_LOG2_F32_9 -0x1.28fd568527218p-3
#define POW_LOG2_F32_10 0x1.f9c4ad9e4bdbep-4
#define POW_LOG2_F32_11 -0x1.c9a101f2cc0fcp-4
#define POW_LOG2_F32_12 0x1.4328fdc4d1edep-3
#define POW_LOG2_F32_13 -0x1.34622007a5f99p-3
#define P_POW_LOG2_F32(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(POW_LOG2_F32_13), x, \
    CF64(POW_LOG2_F32_12)), x, CF64(POW_LOG2_F32_11)), x, CF64(POW_LOG2_F32_10)), x, CF64(POW_LOG2_F32_9)), x, \
    CF64(POW_LOG2_F32_8)), x, CF64(POW_LOG2_F32_7)), x, CF64(POW_LOG2_F32_6)), x, CF64(POW_LOG2_F32_5)), x, \
    CF64(POW_LOG2_F32_4)), x, CF64(POW_LOG2_F32_3)), x, CF64(POW_LOG2_F32_2)), x, CF64(POW_LOG2_F32_1)), x, \
    CF64(POW_LOG2_F32_0))

/* POW_EXP2_F32: largest error 2^-28.09 */
#define POW_EXP2_F32_1 0x1.62e43170c4f92p-1
#define POW_EXP2_F32_2 0x1.ebfbe3a1d41f7p-3
#define POW_EXP2_F32_3 0x1.c6ae0a6332a5cp-5
#define POW_EXP2_F32_4 0x1.3b2651d077a6fp-7
#define POW_EXP2_F32_5 0x1.5fa03f5202de3p-10
#define POW_EXP2_F32_6 0x1.4776923a4f142p-13
#define P_POW_EXP2_F32(x) FMA(FMA(FMA(FMA(FMA(CF64(POW_EXP2_F32_6), x, CF64(POW_EXP2_F32_5)), x, \
    CF64(POW_EXP2_F32_4)), x, CF64(POW_EXP2_F32_3)), x, CF64(POW_EXP2_F32_2)), x, CF64(POW_EXP2_F32_1))

/* POW_F64: largest error 2^-71.88 */
#define POW_F64_0 0x1.2776c50ef9bfcp-1
#define POW_F64_1 0x1.a61762a7aede7p-2
#define POW_F64_2 0x1.484b13d6ac03cp-2
#define POW_F64_3 0x1.0c9a853b82c96p-2
#define POW_F64_4 0x1.c68ee907425d5p-3
#define POW_F64_5 0x1.8a09c690a02b2p-3
#define POW_F64_6 0x1.58fb891f21c8ap-3
#define POW_F64_7 0x1.61fc04f9d49fdp-3
#define P_POW_F64(x) FMA(FMA(FMA(FMA(FMA(FMA(FMA(CF64(POW_F64_7), x, CF64(POW_F64_6)), x, CF64(POW_F64_5)), x, \
    CF64(POW_F64_4)), x, CF64(POW_F64_3)), x, CF64(POW_F64_2)), x, CF64(POW_F64_1)), x, CF64(POW_F64_0))

#define POW_C1_F64_1 0x1.71547652b82fep+1
#define POW_C1_F64_2 0x1.777d0ffda0d24p-55

#define POW_C3_F64_1 0x1.ec709dc3a03fdp-1
#define POW_C3_F64_2 0x1.d27f05548af0cp-55

#endif
